// Creates the entry for each kind of item.
import type { ItemView } from '../../panel/contract';
import { createAgentEntry } from './agentEntry';
import type { EntryFactory } from './entryView';
import { createErrorEntry } from './errorEntry';
import { createGapEntry } from './gapEntry';
import { createNoticeEntry } from './noticeEntry';
import { createPlanEntry } from './planEntry';
import { createThoughtEntry } from './thoughtEntry';
import { createToolEntry } from './toolEntry';
import { createTurnEndEntry } from './turnEndEntry';
import { createUserEntry } from './userEntry';

const FACTORIES: Readonly<Record<ItemView['kind'], EntryFactory>> = {
  user: createUserEntry,
  agent: createAgentEntry,
  thought: createThoughtEntry,
  tool: createToolEntry,
  plan: createPlanEntry,
  notice: createNoticeEntry,
  error: createErrorEntry,
  gap: createGapEntry,
  turn_end: createTurnEndEntry,
};

export const createEntry: EntryFactory = (stored, index, context) =>
  FACTORIES[stored.item.kind](stored, index, context);
