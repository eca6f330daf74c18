/* CuPy's arrays. Its memory pools call hooks of the program's, objects of a Python class, for each
 * block that they hand out or take back; one of ours is put among them, by the interpreter's own
 * functions, which are found in the process. Hooks belong to a thread: to Python's main one.
 *
 * Nothing is asked of the interpreter where the program calls CUDA: it is told to call us when its
 * main thread comes to the next line of Python. */
#ifndef WL_RECORD_CUPY_H
#define WL_RECORD_CUPY_H

/* Memory was allocated: looks for CuPy, now and then, until it is there. Never waits. */
void rec_cupy_look(void);

#endif
