"""The methods of a release: each joins selection, decision and record for one algorithm."""
