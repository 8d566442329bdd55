"""From a pack to rows of slots: squares, names, stimuli, bundles, balance."""
