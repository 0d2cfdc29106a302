"""The result check, in the order of the design: envelope, outputs, questions for the inspector, evidence. Pure."""
