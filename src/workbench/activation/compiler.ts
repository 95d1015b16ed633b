// A worker thread that compiles a bundle ahead of its first use (see compiled.ts).
import { workerData } from 'node:worker_threads';
import { type CompiledPlace, keepCompiled } from './compiled';

void keepCompiled(workerData as CompiledPlace);
