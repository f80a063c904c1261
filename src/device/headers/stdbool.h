// bool, true and false are C++'s own.
#define __bool_true_false_are_defined 1
