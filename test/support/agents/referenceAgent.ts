// The reference agent (reference/referenceProgram.ts) as a process. Usage: node referenceAgent.js
// [JSON]
import { processProgram } from './program';
import { runReferenceAgent } from './reference/referenceProgram';

runReferenceAgent(processProgram());
