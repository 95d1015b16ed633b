// A webview of the test, used like the chat's.
import { EventEmitter, type Uri, type Webview } from 'vscode';
import type { ToWebview } from '../../../src/panel/contract';

export class Holder {
  readonly said = new EventEmitter<unknown>();
  readonly disposed = new EventEmitter<void>();
  readonly onDidDispose = this.disposed.event;
  readonly posted: ToWebview[] = [];
  visible = true;
  readonly webview: Webview = {
    options: {},
    html: '',
    cspSource: 'test:',
    onDidReceiveMessage: this.said.event,
    postMessage: async (message: ToWebview) => this.posted.push(message) > 0,
    asWebviewUri: (uri: Uri) => uri,
  };
}
