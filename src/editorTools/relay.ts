// The program that agents start as an MCP server: relays bytes between its stdio and the window.

import { connect } from 'node:net';
import { argv, env, exit, stderr, stdin, stdout } from 'node:process';

const TOKEN = 'PARLEY_EDITOR_TOOLS';

const socket = connect(argv[2] ?? '');
socket.write(`${env[TOKEN] ?? ''}\n`);
stdin.pipe(socket);
socket.pipe(stdout);
socket.on('close', (failed) => exit(failed ? 1 : 0));
socket.on('error', ({ message }) => stderr.write(`Parley: the VS Code window is not reachable: ${message}\n`));
stdout.on('error', () => exit(0));
