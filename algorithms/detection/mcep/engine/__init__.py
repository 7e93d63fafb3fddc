"""MCEP's engines: a global plan as tables, and an executor that runs them (MCEP, Sections 3 and 5).

`tables` compiles a plan into nodes, stores and joins; `executor` feeds batches to the kernels. The order-based engine
has a store of instances per state of the multi-pattern NFA and a buffer of events per operand, in which a state looks
up earlier events; the tree-based engine has a store per node of the multitree, including leaves. Both use the kernels
in `algorithms/detection/mcep/kernels`: a state of the former is a join of its prefix with the buffer of its next
operand.
"""
