// What a feed shows beside the session, where a test has no terminals and no files.

import { FragmentLines } from '../../../src/client/requests/fragmentLines';
import type { FeedSources } from '../../../src/client/view/feed';

export const FEED_SOURCES: FeedSources = {
  isTerminalOpenable: () => false,
  fragmentLines: new FragmentLines(async () => {
    throw new Error('no files');
  }),
};
