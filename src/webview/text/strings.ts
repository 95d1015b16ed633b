// All texts of the panel and of the tool pages, localized.
import * as l10n from '@vscode/l10n';
import type { RateLimit } from '../../panel/contract';
import { counted, formatDuration, formatIn, formatNumber, formatSeconds, formatShare, language } from './format';

// Each table is a call without side effects, so that pages only bundle the tables they use.
export const strings = /* @__PURE__ */ (() => {
  const turns = counted(l10n.t('{0} turn'), l10n.t('{0} turns'));
  const toolCalls = counted(l10n.t('{0} tool call'), l10n.t('{0} tool calls'));
  return {
    // Accessible names of regions and icons.
    conversation: l10n.t('Conversation'),
    panelTitle: 'Parley',
    message: l10n.t('Message'),
    queuedMessages: l10n.t('Queued messages'),
    startStages: l10n.t('Agent startup'),
    attachments: l10n.t('Attachments'),
    size,
    sentSize: (bytes: number) => l10n.t('{0} in total', size(bytes)),
    sentAsPath: l10n.t('Only the path is sent. The agent reads the file.'),
    addActive: (label: string) => l10n.t('Add {0} to the message', label),
    slashCommands: l10n.t('Commands'),
    promptOf: { workspace: l10n.t('Prompt of the workspace'), user: l10n.t('Your prompt') },
    mentions: l10n.t('Mentions'),

    // Header.
    newSession: l10n.t('New session'),
    sessions: l10n.t('Search sessions…'),
    log: l10n.t('Show log'),
    more: l10n.t('More'),
    renameSession: l10n.t('Rename session…'),
    forkSession: l10n.t('Fork session'),
    checkStatus: l10n.t('Check session status'),
    sessionInfo: l10n.t('Show session info'),
    continueWith: l10n.t('Continue with…'),
    openAsMarkdown: l10n.t('Open as Markdown'),
    exportSession: l10n.t('Export session…'),
    timelineTitle: l10n.t('Timeline'),
    newSessionWith: l10n.t('New session with…'),
    setModel: l10n.t('Set model…'),
    savePreset: l10n.t('Save as preset…'),
    compareSessions: l10n.t('Compare…'),
    focusView: l10n.t('Focus view'),
    ofSession: l10n.t('Session'),
    ofAgent: l10n.t('Agent'),
    help: l10n.t('Help'),
    showTraffic: l10n.t('Show protocol traffic'),
    troubleshoot: l10n.t('Troubleshoot'),
    settings: l10n.t('Open settings'),
    documentation: l10n.t('Open documentation'),
    worktree: l10n.t('Worktree'),
    worktreeHint: l10n.t('The session works in a worktree of its own, not in your folder.'),
    applyWorktree: l10n.t('Apply changes to your folder…'),
    commitWorktree: l10n.t('Commit changes…'),
    removeWorktree: l10n.t('Remove worktree…'),
    needsYou: l10n.t('Needs you'),
    needsYouHint: l10n.t('Go to the question'),
    sessionLost: l10n.t('session lost'),
    working: l10n.t('Working'),

    // Start.
    stages: {
      resolve: l10n.t('Find agent'),
      spawn: l10n.t('Start process'),
      connect: l10n.t('Connect'),
      initialize: l10n.t('Check agent'),
      'sign-in': l10n.t('Sign in'),
      session: l10n.t('Open session'),
      ready: l10n.t('Prepare session'),
    },
    stageState: {
      running: l10n.t('In progress'),
      done: l10n.t('Done'),
      failed: l10n.t('Failed'),
      skipped: l10n.t('Skipped'),
    },
    stderr: l10n.t('What the agent printed'),

    // Transcript.
    you: l10n.t('You'),
    anotherClient: l10n.t('Another client'),
    agent: l10n.t('Agent'),
    thought: l10n.t('Thought'),
    plan: l10n.t('Plan'),
    notice: l10n.t('Notice'),
    error: l10n.t('Error'),
    gap: l10n.t('Missing message'),
    toYourMessage: l10n.t('Go to your message'),
    retryGap: l10n.t('Retry'),
    retryGaps: l10n.t('Retry All'),
    loadPart: l10n.t('Load'),
    afterTheTurn: l10n.t('After the turn'),
    jumpToLatest: l10n.t('Jump to latest'),
    thinking: l10n.t('Thinking…'),
    thoughtFor: (duration: string) => l10n.t('Thought for {0}', duration),
    waitedForYou: (all: string, waited: string) => l10n.t('{0} ({1} waiting for you)', all, waited),
    dropped: counted(
      l10n.t('The first {0} character is no longer available.'),
      l10n.t('The first {0} characters are no longer available.'),
    ),
    alerts: {
      note: l10n.t('Note'),
      tip: l10n.t('Tip'),
      important: l10n.t('Important'),
      warning: l10n.t('Warning'),
      caution: l10n.t('Caution'),
    },
    details: l10n.t('Details'),
    footnote: (label: string) => l10n.t('Footnote {0}', label),
    backToText: l10n.t('Back to text'),
    insertCode: l10n.t('Insert at cursor'),
    applyCode: l10n.t('Apply to file…'),
    wrapCode: l10n.t('Wrap lines'),
    openCode: l10n.t('Open in new editor'),
    runCode: l10n.t('Run in terminal…'),
    diagrams: {
      diagram: l10n.t('Diagram'),
      enlarge: l10n.t('Enlarge'),
      source: l10n.t('Show source'),
      picture: l10n.t('Show diagram'),
      save: l10n.t('Save as SVG…'),
      close: l10n.t('Close'),
      notDrawn: (reason: string) => l10n.t('Diagram not drawn: {0}', reason),
      tooLong: l10n.t('Drawing took too long. Ask for a smaller diagram.'),
      noPicture: l10n.t('The picture is invalid or too large.'),
    },
    showAll: l10n.t('Show all'),
    showLess: l10n.t('Show less'),
    showWholeLines: l10n.t('Show whole lines'),
    copy: l10n.t('Copy'),
    copied: l10n.t('Copied'),
    copyTurn: l10n.t('Copy response'),
    raw: l10n.t('Raw message'),
    audio: (type: string) => l10n.t('Audio ({0})', type),
    audioNotPlayed: (type: string) => l10n.t("Audio ({0}) can't be played here", type),
    resourceSize: (type: string, bytes: number) => `${type}, ${size(bytes)}`,
    saveFile: (name: string) => l10n.t('Save {0}…', name),
    summary: l10n.t('Summary'),
    image: l10n.t('Image'),
    enlargeImage: l10n.t('Enlarge image'),
    closeImage: l10n.t('Close image'),
    embedded: l10n.t('Embedded resource'),
    forAgent: l10n.t('For the agent only'),
    unknownContent: (kind: string) => l10n.t('Unsupported content: {0}', kind),
    tooLarge: {
      image: (bytes: number) => l10n.t('Image too large to show ({0})', size(bytes)),
      audio: (bytes: number) => l10n.t('Audio too large to play ({0})', size(bytes)),
    },
    emptyHint: l10n.t('Describe a task to get started.'),
    emptyStarting: l10n.t('Starting… Messages you send are queued until the agent is ready.'),
    emptyReady: l10n.t('Describe a task, or select a command.'),
    folder: l10n.t('Folder'),
    selectFolder: (folder: string) => l10n.t('Folder: {0}. Select another…', folder),
    branch: l10n.t('Branch'),
    lastSessions: l10n.t('Last sessions here'),
    emptyKeys: [
      ['@', l10n.t('Add context')],
      ['/', l10n.t('Commands')],
      [l10n.t('Esc'), l10n.t('Stop the agent')],
    ],
    setUpAgent: l10n.t('Set up an agent…'),
    firstUse: l10n.t('Use a real agent:'),
    firstUseSearching: l10n.t('Looking for agents on this machine…'),
    useAgent: (name: string) => l10n.t('Use {0}', name),
    browseAgents: l10n.t('Browse agents…'),

    // Tools.
    verbs: {
      read: l10n.t('Read'),
      edit: l10n.t('Edit'),
      delete: l10n.t('Delete'),
      move: l10n.t('Move'),
      search: l10n.t('Search'),
      execute: l10n.t('Run'),
      think: l10n.t('Think'),
      fetch: l10n.t('Fetch'),
      switch_mode: l10n.t('Mode'),
      subagent: l10n.t('Subagent'),
      other: l10n.t('Tool'),
    },
    editorTools: {
      get_diagnostics: l10n.t('Problems'),
      go_to_definition: l10n.t('Definition'),
      find_references: l10n.t('References'),
      find_implementations: l10n.t('Implementations'),
      call_hierarchy: l10n.t('Calls'),
      hover: l10n.t('Type'),
      document_symbols: l10n.t('Outline'),
      workspace_symbols: l10n.t('Symbols'),
      get_selection: l10n.t('Selection'),
      open_editors: l10n.t('Open editors'),
      get_unsaved: l10n.t('Unsaved files'),
      open_file: l10n.t('Open'),
      rename_symbol: l10n.t('Rename'),
      apply_code_action: l10n.t('Code action'),
      format: l10n.t('Format'),
      organize_imports: l10n.t('Organize imports'),
      run_tests: l10n.t('Run tests'),
      test_failures: l10n.t('Failed tests'),
      run_task: l10n.t('Run task'),
    },
    activities: {
      read: counted(l10n.t('Read {0} file'), l10n.t('Read {0} files')),
      search: counted(l10n.t('{0} search'), l10n.t('{0} searches')),
      edit: counted(l10n.t('Edited {0} file'), l10n.t('Edited {0} files')),
      run: counted(l10n.t('Ran {0} command'), l10n.t('Ran {0} commands')),
      subagent: counted(l10n.t('{0} subagent'), l10n.t('{0} subagents')),
      other: counted(l10n.t('{0} other call'), l10n.t('{0} other calls')),
    },
    noProblems: l10n.t('No problems'),
    errors: (count: number): string => (count === 1 ? l10n.t('1 error') : l10n.t('{0} errors', count)),
    warnings: (count: number): string => (count === 1 ? l10n.t('1 warning') : l10n.t('{0} warnings', count)),
    found: (count: number): string => (count === 1 ? l10n.t('1 found') : l10n.t('{0} found', count)),
    toolStatus: {
      pending: l10n.t('Pending'),
      in_progress: l10n.t('Running'),
      completed: l10n.t('Completed'),
      failed: l10n.t('Failed'),
      cancelled: l10n.t('Canceled'),
      paused: l10n.t('Paused'),
    },
    decisions: {
      allowed: l10n.t('Allowed'),
      allowedEdited: l10n.t('Allowed with your edits'),
      rejected: l10n.t('Rejected'),
      dismissed: l10n.t('Dismissed'),
      withdrawn: l10n.t('Question withdrawn'),
      selected: (name: string) => l10n.t('Selected “{0}”', name),
      allowedByRule: (rule: string) => l10n.t('Allowed by rule “{0}”', rule),
      rejectedByRule: (rule: string) => l10n.t('Rejected by rule “{0}”', rule),
    },
    ruleOffers: {
      execute: (command: string) => l10n.t('Allow `{0}` in this folder…', command),
      edit: (path: string) => l10n.t('Allow edits of {0}…', path),
      read: (path: string) => l10n.t('Allow reading {0}…', path),
    },
    editProposal: l10n.t('Edit the change…'),
    editsSent: (agent: string, path: string) =>
      l10n.t('Your version of {0} was saved. {1} was told what you changed.', path, agent),
    rejectWithReason: l10n.t('Reject with a reason…'),
    rejectionReason: l10n.t('Reason'),
    rejectionHint: (agent: string) => l10n.t('What should {0} do instead?', agent),
    rejectionNext: l10n.t('The reason is sent as your next message, before queued ones.'),
    rejectAndSend: l10n.t('Reject and send'),
    showRule: (rule: string) => l10n.t('Show rule “{0}”', rule),
    alwaysIsAgents: (agent: string) => l10n.t('{0} remembers “always” answers. Parley can’t revoke them.', agent),
    rawInput: l10n.t('Raw input'),
    rawOutput: l10n.t('Raw output'),
    loadingRaw: l10n.t('Loading…'),
    openDiff: l10n.t('Open diff'),
    openDiffWhole: counted(l10n.t('Open diff to see {0} more line'), l10n.t('Open diff to see {0} more lines')),
    diffTooLarge: l10n.t('Too large to show here. Open diff'),
    diffTooMany: l10n.t('Too many changes to show here. Open diff'),
    writtenDifferently: l10n.t('The file was written differently. Compare'),
    newFile: l10n.t('New file'),
    noChange: l10n.t('No changes'),
    openOutput: l10n.t('Open full output in editor'),
    openInTerminal: l10n.t('Open in terminal'),
    openLocation: (label: string) => l10n.t('Open {0}', label),
    linesAbove: counted(l10n.t('{0} line above'), l10n.t('{0} lines above')),
    /** For output whose beginning was dropped. */
    manyLinesAbove: (lines: number) => l10n.t('More than {0} lines above', formatNumber(lines)),
    terminalTruncated: l10n.t('Earlier output is no longer available.'),
    noOutput: l10n.t('No output'),
    exitCode: (code: number) => l10n.t('Exit code {0}', code),
    signal: (signal: string) => l10n.t('Terminated by {0}', signal),
    endedByStop: l10n.t('Ended with the stopped turn'),
    moreFiles: counted(l10n.t('+{0} file'), l10n.t('+{0} files')),

    // Permission.
    permission: (title: string) => l10n.t('Permission: {0}', title),
    asksPermission: l10n.t('Needs permission'),
    permissionNeeded: (title: string) => l10n.t('The agent needs permission: {0}', title),
    answerAgain: l10n.t('The question has just appeared or moved. Select your answer again.'),
    noOptions: l10n.t('The agent offered no options.'),
    dismiss: l10n.t('Dismiss'),
    answerHint: (isMac: boolean) => l10n.t('{0} to answer by key', isMac ? 'Ctrl+Cmd+J' : l10n.t('Ctrl+K J')),
    numberHint: l10n.t('Number, then Enter to answer'),
    dismissHint: l10n.t('Esc to dismiss, ? for keys'),
    /** With the title of the call that started the subagent. */
    askedBy: (title: string) => l10n.t('Asked by {0}', title),
    commandIn: (folder: string) => l10n.t('in {0}', folder),
    /** For a text to approve. */
    notShown: (lines: number, characters: number) =>
      lines > 1
        ? l10n.t('… {0} lines not shown …', formatNumber(lines))
        : l10n.t('… {0} characters not shown …', formatNumber(characters)),
    charactersLeft: (characters: string) => l10n.t('{0} characters not shown', characters),
    blankLines: (lines: number) => l10n.t('⟨{0} blank lines⟩', formatNumber(lines)),
    contentOf: (path: string) => l10n.t('Content of {0}', path),
    otherInput: l10n.t('All arguments of the call'),

    // Forms and pages.
    question: (agent: string, message: string) => l10n.t('Question from {0}: {1}', agent, message),
    agentAsks: (agent: string) => l10n.t('Question from {0}', agent),
    submit: l10n.t('Submit'),
    decline: l10n.t('Decline'),
    declineHint: l10n.t('Tell the agent that you decline to answer'),
    cancel: l10n.t('Cancel'),
    cancelHint: l10n.t('Close without answering'),
    escCancels: l10n.t('Esc to cancel'),
    required: l10n.t('Required'),
    chooseOne: l10n.t('Select…'),
    noAnswer: l10n.t('No answer'),
    noSecrets: l10n.t("Don't enter passwords or keys. The agent receives what you enter."),
    chooseBetween: (least: number, most: number | undefined) =>
      most === undefined
        ? l10n.t('Select at least {0}.', formatNumber(least))
        : least === most
          ? l10n.t('Select exactly {0}.', formatNumber(most))
          : least > 0
            ? l10n.t('Select {0} to {1}.', formatNumber(least), formatNumber(most))
            : l10n.t('Select at most {0}.', formatNumber(most)),
    between: (least: number | undefined, most: number | undefined) =>
      least !== undefined && most !== undefined
        ? l10n.t('{0} to {1}', formatNumber(least), formatNumber(most))
        : least !== undefined
          ? l10n.t('At least {0}', formatNumber(least))
          : most !== undefined
            ? l10n.t('At most {0}', formatNumber(most))
            : '',
    unknownField: (kind: string) => l10n.t('Unsupported field type: {0}', kind),
    cannotAnswer: l10n.t("A required field isn't supported. You can decline the form."),
    problems: {
      required: () => l10n.t('Enter or select a value.'),
      unanswerable: () => l10n.t("This required field isn't supported."),
      type: () => l10n.t('Invalid value.'),
      tooShort: counted(l10n.t('Enter at least {0} character.'), l10n.t('Enter at least {0} characters.')),
      tooLong: counted(l10n.t('Enter at most {0} character.'), l10n.t('Enter at most {0} characters.')),
      pattern: () => l10n.t('Invalid format.'),
      email: () => l10n.t('Enter an email address, such as name@example.com.'),
      uri: () => l10n.t('Enter a full URL, such as https://example.com.'),
      date: () => l10n.t('Enter a date.'),
      'date-time': () => l10n.t('Enter a date and a time.'),
      number: () => l10n.t('Enter a number.'),
      integer: () => l10n.t('Enter a whole number.'),
      tooSmall: (limit: number) => l10n.t('Enter {0} or more.', formatNumber(limit)),
      tooLarge: (limit: number) => l10n.t('Enter {0} or less.', formatNumber(limit)),
      option: () => l10n.t('Select one of the options.'),
      tooFew: (limit: number) => l10n.t('Select at least {0}.', formatNumber(limit)),
      tooMany: (limit: number) => l10n.t('Select at most {0}.', formatNumber(limit)),
    } satisfies Readonly<Record<string, (limit: number) => string>>,
    openPage: (host: string) => l10n.t('Open {0}', host),
    openAgain: l10n.t('Open again'),
    waitsForBrowser: l10n.t('Continue in the browser.'),
    punycode: l10n.t("This site's name has characters that may look like others. Open the site only if you trust it."),

    // Background tasks.
    backgroundWork: l10n.t('Background tasks'),
    backgroundCount: counted(
      l10n.t('{0} task running in the background'),
      l10n.t('{0} tasks running in the background'),
    ),
    stopOne: (label: string) => l10n.t('Stop {0}', label),

    // Plan.
    comment: l10n.t('Comment'),
    commentOnPlan: l10n.t('Comment on the plan'),
    outOf: (done: number, all: number) => l10n.t('{0} of {1}', formatNumber(done), formatNumber(all)),
    planStatus: {
      pending: l10n.t('To do'),
      in_progress: l10n.t('In progress'),
      completed: l10n.t('Done'),
      cancelled: l10n.t('Canceled'),
    },
    priorityHigh: l10n.t('High priority'),
    planFile: l10n.t('Plan file:'),
    planRemoved: l10n.t('Removed by agent'),

    // Turn boundary.
    turnEnds: {
      end_turn: (number: number) => l10n.t('Turn {0} ended', number),
      cancelled: (number: number) => l10n.t('Turn {0} stopped by you', number),
      refusal: (number: number) => l10n.t('Turn {0} refused by agent', number),
      max_tokens: (number: number) => l10n.t('Turn {0} stopped: length limit reached', number),
      max_turn_requests: (number: number) => l10n.t('Turn {0} stopped: request limit reached', number),
      error: (number: number) => l10n.t('Turn {0} failed', number),
      interrupted: (number: number) => l10n.t('Turn {0} interrupted', number),
      unknown: (number: number) => l10n.t('Turn {0} ended: reason unknown', number),
    },
    sendAgain: l10n.t('Send again'),
    tools: counted(l10n.t('{0} tool'), l10n.t('{0} tools')),
    files: counted(l10n.t('{0} file'), l10n.t('{0} files')),
    tokens: (count: string) => l10n.t('{0} tokens', count),
    tokenParts: {
      input: (count: string) => l10n.t('Input: {0}', count),
      output: (count: string) => l10n.t('Output: {0}', count),
      cachedRead: (count: string) => l10n.t('Read from cache: {0}', count),
      cachedWrite: (count: string) => l10n.t('Written to cache: {0}', count),
      thought: (count: string) => l10n.t('Thinking: {0}', count),
    },
    turnEmpty: l10n.t('The agent sent no response.'),

    // Composer.
    /** While the agent's name is unknown; also in shell.html. */
    placeholderFirst: l10n.t('Ask Agent…'),
    placeholder: (agent: string) => l10n.t('Ask {0}…', agent),
    placeholderAsked: (agent: string) => l10n.t('Answer {0}…', agent),
    placeholderRunning: l10n.t('Queue a message…'),
    queueHints: {
      sendNow: (isMac: boolean) =>
        isMac
          ? l10n.t('Enter queues the message. Cmd+Enter stops the turn and sends it now.')
          : l10n.t('Enter queues the message. Ctrl+Enter stops the turn and sends it now.'),
      steer: (isMac: boolean) =>
        isMac
          ? l10n.t('Enter queues the message. Cmd+Enter steers the running turn with it.')
          : l10n.t('Enter queues the message. Ctrl+Enter steers the running turn with it.'),
    },
    suggestionHint: l10n.t('Tab inserts the suggestion, Escape dismisses it'),
    suggested: (text: string) => l10n.t('Suggested message: {0}. Press Tab to insert it.', text),
    send: l10n.t('Send'),
    notSent: l10n.t("Your last message wasn't sent. Send the message again."),
    messageTooLong: (length: number, most: number) =>
      l10n.t(
        'The message has {0} characters, the maximum is {1}. Attach the text as a file instead.',
        formatNumber(length),
        formatNumber(most),
      ),
    queue: l10n.t('Queue'),
    stop: l10n.t('Stop'),
    addContext: l10n.t('Add context…'),
    pastedText: (number: number) => l10n.t('Pasted text {0}', number),
    attachFile: l10n.t('Attach file…'),
    insertCommand: l10n.t('Insert command…'),
    removeAttachment: (label: string) => l10n.t('Remove {0}', label),
    filter: l10n.t('Type to filter'),
    noMatches: l10n.t('No matches'),
    mode: l10n.t('Mode'),
    options: l10n.t('Options'),
    allOptions: l10n.t('Mode and options'),
    on: l10n.t('On'),
    off: l10n.t('Off'),
    usage: (used: string, size: string) => l10n.t('{0} of {1} context tokens used', used, size),
    cost: (amount: string) => l10n.t('Cost: {0}', amount),
    limit: limitText,
    limits: l10n.t('Usage limits'),
    contextNearlyFull: l10n.t('The context is nearly full.'),
    summarize: l10n.t('Summarize'),
    continueWithSummary: l10n.t('New session with a summary'),
    usageLabel: (percent: string) => l10n.t('{0} of context used', percent),
    imagesNotAllowed: l10n.t("This agent doesn't accept images."),
    audioNotAllowed: l10n.t("This agent doesn't accept audio."),
    filesNotAllowed: l10n.t("This agent doesn't accept pasted files. Attach them by path instead."),
    imageTooLarge: l10n.t('The file is larger than 10 MB.'),

    // Queue.
    queuedCount: counted(l10n.t('{0} queued message'), l10n.t('{0} queued messages')),
    edit: l10n.t('Edit'),
    remove: l10n.t('Remove'),
    sendNow: l10n.t('Send now'),
    steer: l10n.t('Steer with message'),
    notSteered: (why: string) => l10n.t("Can't steer with message: {0}", why),
    moveUp: l10n.t('Move up'),
    moveDown: l10n.t('Move down'),
    queueState: {
      sending: l10n.t('Sending'),
      accepted: l10n.t('Accepted'),
      failed: l10n.t('Failed'),
    },
    takeBack: l10n.t('Ask agent to return message'),
    editQueued: l10n.t('Edit queued message'),
    editHint: l10n.t('Enter to save, Esc to cancel'),
    unsavedEdit: l10n.t('Unsaved edit'),
    editReturned: l10n.t('The queued message was sent before your edit was saved. Your text is in the message field.'),
    resume: l10n.t('Resume'),
    sendQueued: (count: number) => l10n.t('Send {0} queued', formatNumber(count)),
    /** Accessible name; begins with the visible words. */
    sendQueuedMessages: counted(l10n.t('Send {0} queued message'), l10n.t('Send {0} queued messages')),
    clearQueue: l10n.t('Clear'),
    attachmentCount: counted(l10n.t('{0} attachment'), l10n.t('{0} attachments')),

    keyboardShortcuts: l10n.t('Keyboard shortcuts'),
    allKeys: l10n.t('Change shortcuts…'),
    close: l10n.t('Close'),
    keys: (isMac: boolean): readonly (readonly [string, string])[] => {
      const control = isMac ? 'Cmd' : l10n.t('Ctrl');
      const enter = l10n.t('Enter');
      return [
        [enter, l10n.t('Send, or queue while the agent works')],
        [`${control}+${enter}`, l10n.t('Steer the running turn, or send in place of it')],
        [`${l10n.t('Shift')}+${enter}`, l10n.t('New line')],
        [l10n.t('Esc'), l10n.t('Stop the agent')],
        ['@', l10n.t('Add context')],
        ['/', l10n.t('Commands')],
        ['↑ ↓', l10n.t('Your earlier messages, or the next entry')],
        ['Alt+↑ ↓', l10n.t('Your message before or after')],
        ['1 … 9', l10n.t('Answer the question in focus')],
        [`1 … 9, ${enter}`, l10n.t('Answer a question from the empty message')],
        [`${control}+F`, l10n.t('Find in session')],
        [`${control}+A`, l10n.t('Select the whole session, to copy it')],
        [`${control}+C`, l10n.t('Copy the message in focus')],
        ['?', l10n.t('Keyboard shortcuts')],
      ];
    },

    changes: {
      changedFiles: l10n.t('Changed files'),
      reviewChanges: l10n.t('Review Changes'),
      filesChanged: counted(l10n.t('{0} file changed'), l10n.t('{0} files changed')),
      reviewFiles: counted(l10n.t('Review {0} file'), l10n.t('Review {0} files')),
      linesAdded: counted(l10n.t('{0} line added'), l10n.t('{0} lines added')),
      linesRemoved: counted(l10n.t('{0} line removed'), l10n.t('{0} lines removed')),
      keep: l10n.t('Keep'),
      undo: l10n.t('Undo'),
      keepAll: l10n.t('Keep All'),
      undoAll: l10n.t('Undo All'),
      undoTurn: l10n.t('Undo changes of this turn'),
      redo: l10n.t('Redo'),
      redoTurn: l10n.t('Redo changes of this turn'),
      undoneFiles: counted(l10n.t('{0} file undone'), l10n.t('{0} files undone')),
      copyMessage: l10n.t('Copy message'),
      savePrompt: l10n.t('Save as prompt…'),
      restoreFiles: l10n.t('Restore files to before this message'),
      editAndResend: l10n.t('Edit and send again'),
      forkFromMessage: l10n.t('Fork from here'),
      reviewWith: l10n.t('Review with another agent…'),
      retryWith: l10n.t('Retry with another agent…'),
      pressAgain: l10n.t('The button has just appeared or moved. Select it again.'),
      showToolCall: l10n.t('Go to tool call'),
      showInChanges: l10n.t('Show in changed files'),
      changeKind: {
        added: l10n.t('Added'),
        modified: l10n.t('Modified'),
        deleted: l10n.t('Deleted'),
        renamed: l10n.t('Renamed'),
      },
      changeState: {
        kept: l10n.t('Kept'),
        undone: l10n.t('Undone'),
        conflict: l10n.t('Conflict'),
      },
      conflictHint: l10n.t('You edited the same lines. Review the file to undo the change by hand.'),
      renamedFrom: (path: string) => l10n.t('from {0}', path),
      alsoYours: l10n.t('You edited it too'),
      apart: {
        unnamed: l10n.t("The agent didn't name it"),
        'was-there': l10n.t('It may have been there before'),
      },
      binaryFile: l10n.t('Binary'),
      changesWork: {
        keep: l10n.t('Keeping changes…'),
        undo: l10n.t('Undoing changes…'),
        redo: l10n.t('Redoing changes…'),
        restore: l10n.t('Restoring files…'),
      },
    },

    nested: {
      calls: counted(l10n.t('{0} call'), l10n.t('{0} calls')),
      running: (ms: number) => l10n.t('running {0}', formatSeconds(ms)),
      waitsForYou: l10n.t('waits for you'),
      messages: l10n.t('Messages'),
      earlier: counted(l10n.t('Show {0} earlier entry'), l10n.t('Show {0} earlier entries')),
      later: counted(l10n.t('Show {0} later entry'), l10n.t('Show {0} later entries')),
      loading: l10n.t('Loading…'),
    },

    find: {
      find: l10n.t('Find'),
      findInSession: l10n.t('Find in session'),
      matchCase: l10n.t('Match Case (Alt+C)'),
      wholeWord: l10n.t('Match Whole Word (Alt+W)'),
      regex: l10n.t('Use Regular Expression (Alt+R)'),
      previous: l10n.t('Previous Match (Shift+Enter)'),
      next: l10n.t('Next Match (Enter)'),
      noResults: l10n.t('No results'),
      searching: l10n.t('Searching…'),
      problem: {
        invalid: l10n.t('Invalid expression'),
        slow: l10n.t('Expression takes too long'),
      },
    },

    timeline: {
      list: l10n.t('Turns and tool calls'),
      picture: (turnCount: number, calls: number) =>
        l10n.t('{0}, {1}, drawn along time', turns(turnCount), toolCalls(calls)),
      summary: (turnCount: number, calls: number) => `${turns(turnCount)} · ${toolCalls(calls)}`,
      empty: l10n.t('No turns yet'),
      waits: l10n.t('Waits for you'),
      turn: (number: number) => l10n.t('Turn {0}', formatNumber(number)),
      calls: toolCalls,
      context: l10n.t('Context'),
      contextUsed: (share: number) => l10n.t('{0} of the context', formatShare(share)),
      waited: (ms: number) => l10n.t('waited for you {0}', formatDuration(ms)),
      running: l10n.t('In progress'),
    },

    away: {
      title: l10n.t('While you were away'),
      newSince: (at: number) => l10n.t('New since {0}', clock(at)),
      showQuestion: l10n.t('Show question'),
      commands: counted(l10n.t('{0} command'), l10n.t('{0} commands')),
      decisions: counted(l10n.t('{0} request answered by a rule'), l10n.t('{0} requests answered by rules')),
      turns,
      states: { running: l10n.t('Running'), done: l10n.t('Completed'), failed: l10n.t('Failed') },
    },

    formulas: {
      tooLong: l10n.t('Not drawn: the formula is too long'),
      tooDeep: l10n.t('Not drawn: the formula is nested too deeply'),
      tooLarge: l10n.t('Not drawn: the formula has a size that is too large'),
      notAllowed: l10n.t("Not drawn: the formula has a command that isn't supported"),
      notRead: (reason: string) =>
        reason === '' ? l10n.t('Not drawn: invalid formula') : l10n.t('Not drawn: {0}', reason),
    },

    // Shared.
    closeByKey: l10n.t('Close (Escape)'),
    versionMismatch: l10n.t('Parley was updated. Reload the panel to continue.'),
  } as const;
})();

export const trafficStrings = /* @__PURE__ */ (() =>
  ({
    toolbar: l10n.t('Traffic'),
    pause: l10n.t('Pause'),
    resume: l10n.t('Resume'),
    clear: l10n.t('Clear'),
    exportRecording: l10n.t('Export recording…'),
    openRecording: l10n.t('Open recording…'),
    filters: l10n.t('Filter messages'),
    search: l10n.t('Search in messages'),
    allDirections: l10n.t('All directions'),
    allMethods: l10n.t('All methods'),
    allSessions: l10n.t('All sessions'),
    direction: {
      in: l10n.t('From agent'),
      out: l10n.t('To agent'),
      stderr: l10n.t('Error output'),
      noise: l10n.t('Not a message'),
    },
    errorsOnly: l10n.t('Errors only'),
    messages: l10n.t('Messages'),
    column: {
      time: l10n.t('Time'),
      direction: l10n.t('Direction'),
      method: l10n.t('Method'),
      id: l10n.t('ID'),
      latency: l10n.t('Latency'),
      size: l10n.t('Size'),
      session: l10n.t('Session'),
    },
    kind: {
      request: l10n.t('Request'),
      response: l10n.t('Response'),
      notification: l10n.t('Notification'),
      text: l10n.t('Text'),
    },
    error: l10n.t('Error'),
    noMethod: l10n.t('(no method)'),
    turns: l10n.t('Turns'),
    prompt: l10n.t('Prompt'),
    promptOf: (id: string) => l10n.t('Prompt {0}', id),
    ownTurn: l10n.t('No prompt'),
    mark: {
      sent: l10n.t('Sent'),
      receipt: l10n.t('Receipt'),
      echo: l10n.t('Echo'),
      output: l10n.t('First output'),
      barrier: 'turn_complete',
      answer: l10n.t('Response'),
      idle: l10n.t('Idle'),
      cancel: l10n.t('Cancel'),
      settled: l10n.t('Settled'),
    },
    markNote: {
      late: l10n.t('late'),
      foreign: l10n.t('foreign'),
      doubled: l10n.t('repeated'),
    },
    markNoteHint: {
      late: l10n.t('It came after the turn had settled.'),
      foreign: l10n.t('It belongs to another prompt or client.'),
      doubled: l10n.t('It came before, and has no effect.'),
    },
    byTime: l10n.t('Time has passed. No message shows this.'),
    count: (shown: number, all: number) =>
      shown === all
        ? l10n.t('{0} messages', formatNumber(all))
        : l10n.t('{0} of {1} messages', formatNumber(shown), formatNumber(all)),
    empty: l10n.t('No messages yet. Messages to and from agents appear here.'),
    noneMatches: l10n.t('No messages match the filter.'),
    content: l10n.t('Content'),
    selectOne: l10n.t('Select a message to see its content. Secrets are removed.'),
    loading: l10n.t('Loading…'),
    gone: l10n.t('This message is no longer kept.'),
    cut: (characters: number) => l10n.t('{0} more characters', formatNumber(characters)),
    copy: l10n.t('Copy'),
    toRequest: l10n.t('Go to request'),
    toResponse: l10n.t('Go to response'),
    ms: (ms: number) => (ms < 10_000 ? l10n.t('{0} ms', formatNumber(ms)) : l10n.t('{0} s', formatNumber(ms / 1000))),
    bytes: (bytes: number) =>
      bytes < 1000
        ? l10n.t('{0} B', formatNumber(bytes))
        : bytes < 1_000_000
          ? l10n.t('{0} kB', formatNumber(bytes / 1000))
          : l10n.t('{0} MB', formatNumber(bytes / 1_000_000)),
  }) as const)();

export const zoomStrings = /* @__PURE__ */ (() =>
  ({
    in: l10n.t('Zoom In (+)'),
    out: l10n.t('Zoom Out (−)'),
    toAll: l10n.t('Show All (0)'),
  }) as const)();

export function moreCount(count: number): string {
  return l10n.t('{0} more', formatNumber(count));
}

/** "1 KB", "12.4 MB" */
function size(bytes: number): string {
  const kilobytes = Math.max(1, Math.ceil(bytes / 1024));
  return kilobytes < 1024
    ? l10n.t('{0} KB', formatNumber(kilobytes))
    : l10n.t('{0} MB', formatNumber(kilobytes / 1024));
}

/** @param now ms since 1970 */
function limitText({ kind, state, used, resetsAt }: RateLimit, now: number): string {
  const name = limitName(kind);
  const fact =
    state === 'reached'
      ? l10n.t('{0} reached', name)
      : used === undefined
        ? name
        : l10n.t('{0}: {1} used', name, formatShare(used));
  return resetsAt === undefined
    ? fact
    : l10n.t('{0}, resets {1} ({2})', fact, clock(resetsAt), formatIn(resetsAt - now));
}

function limitName(kind: string): string {
  switch (kind) {
    case 'five_hour':
      return l10n.t('5-hour limit');
    case 'seven_day':
      return l10n.t('Weekly limit');
    case 'seven_day_opus':
      return l10n.t('Weekly Opus limit');
    case 'seven_day_sonnet':
      return l10n.t('Weekly Sonnet limit');
    case 'seven_day_overage_included':
      return l10n.t('Weekly limit of the model');
    case 'overage':
      return l10n.t('Extra usage limit');
    default:
      return l10n.t('Usage limit');
  }
}

function clock(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(at);
}
