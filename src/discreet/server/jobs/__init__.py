"""Jobs: accepted with their cost held, run in processes that can be killed, answered on a time grid."""
