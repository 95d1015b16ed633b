// Replaces VS Code: provides the panel's API, records its messages, and lets tests post as the
// host.
(() => {
  // Not named before navigation: the previous page writes its storage until it unloads.
  const address = new URL(location.href);
  for (const name of address.searchParams.getAll('clear')) globalThis[name].clear();
  address.searchParams.delete('clear');
  history.replaceState(null, '', address);
  const posted = [];
  let state = JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined;
  let waiting = [];
  const violations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
  });
  globalThis.acquireVsCodeApi = () => ({
    postMessage(message) {
      // VS Code serializes messages, which drops undefined members.
      const received = JSON.parse(JSON.stringify(message));
      posted.push(received);
      waiting = waiting.filter((resolve) => !resolve(received));
    },
    getState: () => state,
    setState(next) {
      state = next;
      sessionStorage.setItem('state', JSON.stringify(next));
    },
  });
  globalThis.host = {
    posted,
    violations,
    state: () => state,
    /** Posts a message as the host. */
    send(message) {
      window.postMessage(message, '*');
    },
    /** Returns the next message of a type, including ones already posted. */
    next(type, after = 0) {
      const fits = (message) => message.type === type;
      const found = posted.slice(after).find(fits);
      if (found) return Promise.resolve(found);
      return new Promise((resolve) => {
        waiting.push((message) => {
          if (!fits(message)) return false;
          resolve(message);
          return true;
        });
      });
    },
    /** Waits until a revision is acknowledged. */
    acked(revision) {
      if (posted.some((message) => message.type === 'ack' && message.revision >= revision)) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push((message) => {
          if (message.type !== 'ack' || message.revision < revision) return false;
          resolve();
          return true;
        });
      });
    },
  };
})();
