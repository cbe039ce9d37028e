"""Focus: select the most promising hypotheses privately, then measure them afresh."""
