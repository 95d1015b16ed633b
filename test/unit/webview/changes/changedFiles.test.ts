// The loaded part of a list of changed files.
import assert from 'node:assert/strict';
import type { ChangedFileView } from '../../../../src/panel/contract';
import { ChangedFiles } from '../../../../src/webview/changes/changedFiles';

/** A list with a fake host. */
class Fixture {
  readonly requests: string[] = [];
  changes = 0;
  names: readonly string[];
  version = 1;
  readonly files = new ChangedFiles((from, to) => this.requests.push(`${from}–${to}`));

  constructor(count: number) {
    this.names = Array.from({ length: count }, (_, index) => `f${index}`);
    this.files.onDidChange(() => {
      this.changes += 1;
    });
    this.files.setCount({ files: count, version: 1 });
  }

  /** Sends a page of 100 files. */
  send(page: number): void {
    const { version, names } = this;
    const from = page * 100;
    const files = names.slice(from, from + 100).map(view);
    this.files.receive({ version, total: names.length, from, files });
  }

  /** Changes the list and sends its count. */
  change(names: readonly string[]): void {
    this.names = names;
    this.version += 1;
    this.files.setCount({ files: names.length, version: this.version });
  }
}

function view(id: string): ChangedFileView {
  return { id, label: id, change: 'modified', added: 1, removed: 0, state: 'unreviewed' };
}

describe('the files of a list of changes', () => {
  it('stay unchanged until all visible files of a new version have arrived', () => {
    const list = new Fixture(250);
    list.files.setVisibleRange(90, 110);
    list.send(0);
    list.send(1);
    const { changes } = list;
    list.change(['new', ...list.names]);
    assert.deepEqual(list.requests.slice(2), ['0–100', '100–200']);
    list.send(0);
    assert.equal(list.files.at(0)?.id, 'f0');
    assert.equal(list.changes, changes);
    list.send(1);
    assert.equal(list.files.at(0)?.id, 'new');
    assert.equal(list.files.total, 251);
    assert.equal(list.changes, changes + 1);
  });

  it('are not requested repeatedly from a host that counts differently', () => {
    const list = new Fixture(10);
    list.files.setVisibleRange(0, 10);
    list.version = 7;
    list.send(0);
    list.files.setVisibleRange(0, 10);
    list.files.setCount({ files: 10, version: 1 });
    assert.deepEqual(list.requests, ['0–100']);
    assert.equal(list.files.at(3)?.id, 'f3');
  });

  it('follow the end of a list that became shorter', () => {
    const list = new Fixture(250);
    list.files.setVisibleRange(230, 250);
    list.send(2);
    list.change(list.names.slice(0, 120));
    list.send(2);
    assert.deepEqual(list.requests, ['200–300', '200–300', '100–200']);
    list.send(1);
    assert.equal(list.files.total, 120);
    assert.equal(list.files.at(119)?.id, 'f119');
  });

  it('are requested again after being hidden, if the host rejected them', () => {
    const list = new Fixture(3);
    list.files.setVisibleRange(0, 3);
    list.files.hide();
    list.change(list.names);
    assert.deepEqual(list.requests, ['0–100'], 'nobody looks');
    list.files.setVisibleRange(0, 3);
    assert.deepEqual(list.requests, ['0–100', '0–100']);
  });
});
