// A thread that compiles a bundle before it is first needed, so that the window in which it is
// needed need not wait for that (compiled.ts).
import { workerData } from 'node:worker_threads';
import { type CompiledPlace, keepCompiled } from './compiled';

void keepCompiled(workerData as CompiledPlace);
