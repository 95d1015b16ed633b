// The entry point of the code about changed files, which is loaded when something has changed.
import type { ToWebview } from '../../panel/contract';
import { adoptStyles } from '../dom/pageStyles';
import styles from '../styles/changes.css';
import { strings } from '../text/changesStrings';
import { type ChangesLine, createChangesLine } from './changesLine';
import { type ChangesLink, createChangesLink } from './changesLink';
import { forgetChanges, receiveChanges, renewChanges } from './changesLists';
import { createLiveLine, type LiveLine } from './liveLine';
import { createMessageActions, type MessageActions } from './messageActions';
import { connect, type PanelServices } from './panelServices';
import { pressGuard } from './pressGuard';
import { createReviewBar } from './reviewBar';

export interface ChangesPart {
  /** Creates the line under the end of a turn. */
  createLine(turnId: string): ChangesLine;
  /** Creates the line of the running turn. */
  createLive(): LiveLine;
  createReviewBar(): HTMLElement;
  createMessageActions(turnId: string, copy: () => void): MessageActions;
  createLink(show: () => void): ChangesLink;
  /** The host has sent a part of a list. */
  receive(message: Extract<ToWebview, { type: 'changes' }>): void;
  /** Another session is shown. */
  forget(): void;
  /** The host has started over. */
  renew(): void;
}

export function createPart(services: PanelServices): ChangesPart {
  adoptStyles(styles);
  connect(services);
  pressGuard.onRefused = () => services.announce(strings.pressAgain, 'polite');
  return {
    createLine: createChangesLine,
    createLive: createLiveLine,
    createReviewBar,
    createMessageActions,
    createLink: createChangesLink,
    receive: receiveChanges,
    forget: forgetChanges,
    renew: renewChanges,
  };
}
