"""The paper's Algorithm 4 and its fast form, whole."""
