"""The supervisor: decides on inputs, folds transitions, dispatches work. A role: imports `remit`, no other role."""
