"""Which kind of error a wrong reply makes: kinds, packets for labellers, labels, and what they come to."""
