// Stands where VS Code would: gives the panel its API, keeps what it says, and lets a test speak as the host.
(() => {
  // Named in the address and not before: the page that was shown here writes until its end.
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
      // As VS Code hands it to the extension: without undefined members.
      const received = JSON.parse(JSON.stringify(message));
      posted.push(received);
      waiting = waiting.filter((one) => !one(received));
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
    /** Speaks as the host. */
    send(message) {
      window.postMessage(message, '*');
    },
    /** The next message of a type, or one that was posted already. */
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
    /** Waits until a revision was painted and acknowledged. */
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
