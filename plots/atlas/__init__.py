"""The questions of the field, answered by the records of the profile `atlas`: a module per question.

Each module has `answer`, which computes the sentences and the drawings of a page (`answers.Answer`) from results.
"""
