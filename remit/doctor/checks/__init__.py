"""The judgements: each a pure function from facts to findings. Only `remit.doctor` imports them."""
