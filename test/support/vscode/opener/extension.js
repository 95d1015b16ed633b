// Runs "Parley: Focus Chat" once the window is up, as the user of `npm start` would have to.
const vscode = require('vscode');

exports.activate = () => vscode.commands.executeCommand('parley.open');
