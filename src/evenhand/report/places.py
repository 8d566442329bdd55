"""Where the files of a report are: names that those who serve it need without what it takes to draw one."""

REPORT = "report"
"""The folder of a run that its report is in."""

PAGE, SUMMARY = "index.html", "summary.md"
