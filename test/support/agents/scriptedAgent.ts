// The scripted agent (scripted/scriptedProgram.ts) as a process. Usage: node scriptedAgent.js
// [preset or JSON] [--login]
import { processProgram } from './program';
import { runScriptedAgent } from './scripted/scriptedProgram';

runScriptedAgent(processProgram());
