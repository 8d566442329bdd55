"""A local server for the tests: OpenAI-compatible, on loopback, with every fault that a provider was seen to have."""
