// Every text that the panel itself says, in one place, so that it can be translated.
import { plural } from './format';

export const strings = {
  // Names of regions and of things that have no visible text.
  conversation: 'Conversation',
  panelTitle: 'Parley',
  taskDone: 'Done',
  taskOpen: 'To do',
  agentStatus: 'Agent',
  message: 'Message',
  queuedMessages: 'Queued messages',
  startStages: 'Start of the agent',
  attachments: 'Attachments',
  slashCommands: 'Commands',

  // Header.
  newSession: 'New session',
  sessions: 'Sessions',
  log: 'Show log',
  more: 'More',
  changeAgent: 'Change agent…',
  showTraffic: 'Show protocol traffic',
  settings: 'Settings',
  needsYou: 'Needs you',
  needsYouHint: 'Go to the question that waits for your answer',
  liveness: { live: 'live', not_found: 'session lost', unknown: '' },

  // Start.
  stages: {
    resolve: 'Find the agent',
    spawn: 'Start its process',
    connect: 'Connect to it',
    initialize: 'Agree on the protocol',
    'sign-in': 'Sign in',
    session: 'Open a session',
    ready: 'Make the session ready',
  },
  stageState: { running: 'running', done: 'done', failed: 'failed', skipped: 'skipped' },
  stderr: 'Last lines the agent wrote to stderr',

  // Transcript.
  you: 'You',
  agent: 'Agent',
  thought: 'Thought',
  plan: 'Plan',
  notice: 'Notice',
  error: 'Error',
  gap: 'Gap',
  retryGap: 'Retry',
  afterTheTurn: 'after the turn',
  jumpToLatest: 'Jump to the latest',
  thinking: 'Thinking…',
  thoughtFor: (duration: string) => `Thought for ${duration}`,
  dropped: (count: number) => `${count.toLocaleString('en')} characters from the beginning are no longer kept.`,
  showAll: 'Show all',
  showLess: 'Show less',
  copy: 'Copy',
  copied: 'Copied',
  copyTurn: 'Copy the text of this turn',
  loadingEarlier: 'Loading earlier messages…',
  details: 'Details',
  raw: 'What the agent sent',
  audio: (type: string) => `Audio (${type})`,
  audioNotPlayed: (type: string) => `Audio (${type}), which cannot be played here`,
  resourceSize: (type: string, bytes: number) => `${type}, ${Math.max(1, Math.ceil(bytes / 1024))} KB`,
  saveFile: (name: string) => `Save ${name}…`,
  summary: 'Summary',
  image: 'Image',
  embedded: 'Embedded resource',
  unknownContent: (kind: string) => `Content of a kind that is not known here: ${kind}`,
  emptyTitle: (agent: string) => agent,
  emptyHint: 'Write what you want done. The agent starts when you do.',
  emptyStarting: 'It is starting. What you send now waits until it is ready.',
  emptyReady: 'Write what you want done, or pick a command.',

  // Tools.
  verbs: {
    read: 'Read',
    edit: 'Edit',
    delete: 'Delete',
    move: 'Move',
    search: 'Search',
    execute: 'Run',
    think: 'Think',
    fetch: 'Fetch',
    switch_mode: 'Mode',
    subagent: 'Subagent',
    other: 'Tool',
  },
  toolStatus: {
    pending: 'waiting',
    in_progress: 'running',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    paused: 'paused',
  },
  rawInput: 'Input',
  rawOutput: 'Output',
  loadingRaw: 'Loading…',
  openDiff: 'Open diff',
  openDiffWhole: (lines: number) => `Open diff to see ${plural(lines, 'more line', 'more lines')}`,
  diffTooLarge: 'Too large to show here. Open diff',
  diffTooMany: 'Too many changes to show here. Open diff',
  newFile: 'new file',
  noChange: 'No change',
  openInTerminal: 'Open in terminal',
  openLocation: (label: string) => `Open ${label}`,
  terminalTruncated: 'Earlier output is no longer kept.',
  earlierLines: (count: number) => `${plural(count, 'earlier line', 'earlier lines')}`,
  noOutput: 'No output',
  exitCode: (code: number) => `exit ${code}`,
  signal: (signal: string) => `ended by ${signal}`,
  moreFiles: (count: number) => `+${plural(count, 'file', 'files')}`,

  // Permission.
  permission: (title: string) => `Permission: ${title}`,
  asksPermission: 'asks for permission',
  permissionNeeded: (title: string) => `The agent asks for permission: ${title}`,
  answerAgain: 'The question has just appeared or moved. Answer it again.',
  noOptions: 'The agent offered no answer to choose from.',
  dismiss: 'Dismiss',
  dismissHint: 'Esc dismisses',
  commandIn: (folder: string) => `in ${folder}`,

  // Forms and pages.
  question: (agent: string, message: string) => `Question: ${agent} asks: ${message}`,
  questionAsked: (agent: string, message: string) => `${agent} asks: ${message}`,
  agentAsks: (agent: string) => `${agent} asks`,
  submit: 'Submit',
  decline: 'Decline',
  declineHint: 'Tell the agent that you do not want to answer',
  cancel: 'Cancel',
  cancelHint: 'Close the question without an answer',
  escCancels: 'Esc cancels',
  required: 'must be answered',
  chooseOne: 'Choose …',
  noAnswer: 'No answer',
  noSecrets: 'Do not write passwords or keys here: the agent gets what you write.',
  chooseBetween: (least: number, most: number | undefined) =>
    most === undefined
      ? `Choose at least ${least}.`
      : least === most
        ? `Choose ${most}.`
        : least > 0
          ? `Choose ${least} to ${most}.`
          : `Choose at most ${most}.`,
  between: (least: number | undefined, most: number | undefined) =>
    least !== undefined && most !== undefined
      ? `${least} to ${most}`
      : least !== undefined
        ? `at least ${least}`
        : most !== undefined
          ? `at most ${most}`
          : '',
  unknownField: (kind: string) => `This kind of field (${kind}) cannot be answered here.`,
  cannotAnswer: 'This form asks for something that cannot be answered here. You can decline it.',
  problems: {
    required: () => 'An answer is needed.',
    unanswerable: () => 'An answer is needed, and cannot be given here.',
    type: () => 'This is no answer of the right kind.',
    tooShort: (limit: number) => `Write at least ${plural(limit, 'character', 'characters')}.`,
    tooLong: (limit: number) => `Write at most ${plural(limit, 'character', 'characters')}.`,
    pattern: () => 'This does not have the form that is asked for.',
    email: () => 'Write an email address, as name@example.com.',
    uri: () => 'Write a whole address, as https://example.com.',
    date: () => 'Write a date.',
    'date-time': () => 'Write a date and a time.',
    number: () => 'Write a number.',
    integer: () => 'Write a whole number.',
    tooSmall: (limit: number) => `Write ${limit} or more.`,
    tooLarge: (limit: number) => `Write ${limit} or less.`,
    option: () => 'Choose one of the answers.',
    tooFew: (limit: number) => `Choose at least ${limit}.`,
    tooMany: (limit: number) => `Choose at most ${limit}.`,
  } satisfies Readonly<Record<string, (limit: number) => string>>,
  openPage: (host: string) => `Open ${host}`,
  openAgain: 'Open again',
  waitsForBrowser: 'Go on in the browser.',
  punycode: 'The name of this site has characters that may look like others. Open it only if you know it.',

  // Work beside the turns.
  backgroundWork: 'Background work',
  backgroundCount: (count: number) =>
    count === 1 ? '1 task runs in the background' : `${count} tasks run in the background`,
  stopOne: (label: string) => `Stop ${label}`,

  // Plan.
  planProgress: (done: number, all: number) => `${done} of ${all}`,
  planStatus: { pending: 'to do', in_progress: 'in progress', completed: 'done', cancelled: 'dropped' },
  priorityHigh: 'high priority',
  planFile: 'The plan is a file:',
  planRemoved: 'taken back by the agent',

  // Turn boundary.
  turnEnded: (number: number) => `turn ${number} ended`,
  turnCancelled: (number: number) => `turn ${number} stopped by you`,
  turnRefused: (number: number) => `turn ${number}: the agent refused`,
  turnMaxTokens: (number: number) => `turn ${number} stopped: the answer reached its length limit`,
  turnMaxRequests: (number: number) => `turn ${number} stopped: too many requests to the model`,
  turnError: (number: number) => `turn ${number} ended with an error`,
  turnUnknown: (number: number) => `turn ${number} ended, reason not known`,
  tools: (count: number) => plural(count, 'tool', 'tools'),
  files: (count: number) => plural(count, 'file', 'files'),
  tokens: (count: string) => `${count} tokens`,
  barrier: {
    turn_complete: 'The agent said that the turn is complete.',
    state: 'The agent said that it is idle.',
    response: 'Known from the answer to the prompt.',
    timeout: 'The agent said nothing more for too long.',
    exit: 'The agent’s process ended.',
  },

  // Composer.
  placeholder: (agent: string) => `Ask ${agent} …`,
  placeholderAsked: (agent: string) => `Answer ${agent} …`,
  placeholderRunning: 'Queue the next message …',
  send: 'Send',
  notSent: 'Your last message was not sent. Send it again.',
  messageTooLong: (length: number, most: number) =>
    `This message has ${length.toLocaleString('en')} characters; ${most.toLocaleString('en')} are the most. Put the text into a file and attach that.`,
  queue: 'Queue',
  stop: 'Stop',
  attachFile: 'Attach a file',
  insertCommand: 'Commands of the agent',
  removeAttachment: (label: string) => `Remove ${label}`,
  mode: 'Mode',
  on: 'on',
  off: 'off',
  usage: (used: string, size: string) => `${used} of ${size} tokens of the context are used`,
  cost: (amount: string) => `cost so far: ${amount}`,
  usageLabel: (percent: number) => `Context ${percent} % used`,
  imagesNotAllowed: 'This agent takes no images.',
  audioNotAllowed: 'This agent takes no audio.',
  filesNotAllowed: 'This agent takes no files; attach them by their path.',
  imageTooLarge: 'The file is larger than 10 MB.',

  // Queue.
  edit: 'Edit',
  remove: 'Remove',
  sendNow: 'Send now',
  moveUp: 'Move up',
  moveDown: 'Move down',
  queueState: { queued: 'queued', sending: 'sending', accepted: 'accepted', failed: 'failed', paused: 'paused' },
  takeBack: 'Ask the agent to return it',
  editQueued: 'Edit the queued message',
  editHint: 'Enter saves, Esc cancels',
  resume: 'Resume',
  clearQueue: 'Clear',
  attachmentCount: (count: number) => plural(count, 'attachment', 'attachments'),

  versionMismatch: 'This panel is of another version than the extension. Close it and open it again.',
} as const;
