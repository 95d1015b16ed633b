// Creates the entry view for each kind of item.
import type { ItemView } from '../../panel/contract';
import type { EntryFactory } from './entryView';
import { createErrorEntry, createGapEntry, createNoticeEntry } from './lineEntries';
import { createPlanEntry } from './planEntry';
import { createAgentEntry, createThoughtEntry } from './textEntries';
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
