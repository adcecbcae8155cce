"""Studies: put benchmark items or model replies to people, under the conditions of a plan."""
