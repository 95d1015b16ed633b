// The layout of the panel: header, conversation, queue, composer.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { reviewBar } from './changes/changes';
import { Bars } from './components/bars';
import { Composer } from './composer/composer';
import { EmptyState } from './header/emptyState';
import { Header } from './header/header';
import { startBar } from './header/stages';
import { lastAnnouncements } from './host/session';
import { queueBar } from './queue/queue';
import { backgroundBar, demoBar, planBar, startModeBar } from './queue/workLines';
import type { Transcript } from './transcript/transcript';

const BARS = [startBar, backgroundBar, planBar, reviewBar, queueBar, startModeBar, demoBar];

interface AppProps {
  readonly transcript: Transcript;
  onTimeline(): void;
}

/**
 * Takes over the elements of shell.html and must match their order; otherwise text already typed
 * would be lost with its field.
 */
export function App({ transcript, onTimeline }: AppProps) {
  return (
    <div class="panel">
      <Header onNeedsYou={() => transcript.revealPermission()} onTimeline={onTimeline} />
      <main class="main">
        <EmptyState />
        <Mount node={transcript.element} />
      </main>
      <footer class="footer">
        <div class="column-width">
          <Bars bars={BARS} place={transcript} />
          <Composer />
        </div>
      </footer>
      <div class="sr-only" role="alert">
        <Announcer urgency="assertive" />
      </div>
      <div class="sr-only" aria-live="polite">
        <Announcer urgency="polite" />
      </div>
    </div>
  );
}

/** Creates a new element for each announcement; screen readers ignore unchanged text. */
function Announcer({ urgency }: { readonly urgency: keyof typeof lastAnnouncements }) {
  const { number, text } = lastAnnouncements[urgency].value;
  return <span key={number}>{text}</span>;
}

function Mount({ node }: { readonly node: HTMLElement }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    ref.current?.append(node);
  }, [node]);
  return <div class="mount" ref={ref} />;
}
