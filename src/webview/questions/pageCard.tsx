// A page that the agent asks the user to open: the whole URL, warnings about it, and a button that
// gives consent. Nothing of it is loaded here.
import type { ElicitationView } from '../../panel/contract';
import { Icon } from '../components/icon';
import { strings } from '../text/strings';
import { type Answer, Refusals } from './formCard';

type PageView = Extract<ElicitationView, { mode: 'url' }>;

export function PageCard({ question, onAnswer }: { readonly question: PageView; readonly onAnswer: Answer }) {
  const { opened } = question;
  // The host has parsed and normalised the URL.
  const url = new URL(question.url);
  const [before, after] = split(url);
  const open = (event: MouseEvent): unknown => onAnswer(event, { kind: 'open' });
  return (
    <>
      <p class="address" dir="ltr">
        <span class="dim">{before}</span>
        <b>{url.host}</b>
        <span class="dim">{after}</span>
      </p>
      {/(?:^|\.)xn--/i.test(url.hostname) && (
        <p class="address-warning">
          <Icon name="warning" /> {strings.punycode}
        </p>
      )}
      {opened ? (
        <div class="answers">
          <span class="icon-line">
            <Icon name="loading" /> {strings.waitsForBrowser}
          </span>
          <button type="button" class="secondary" onClick={open}>
            {strings.openAgain}
          </button>
          <button type="button" class="secondary" onClick={(event) => onAnswer(event, { kind: 'cancel' })}>
            {strings.dismiss}
          </button>
        </div>
      ) : (
        <div class="answers">
          <button type="button" class="primary" onClick={open}>
            <Icon name="link-external" />
            {strings.openPage(url.host)}
          </button>
          <Refusals onAnswer={onAnswer} />
        </div>
      )}
    </>
  );
}

function split(url: URL): readonly [before: string, after: string] {
  const before = `${url.protocol}//`;
  return [before, url.href.slice(before.length + url.host.length)];
}
