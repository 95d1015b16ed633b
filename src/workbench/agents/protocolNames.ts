// The names of the two protocols with the same initials, the same in all languages.
export const CLIENT_PROTOCOL = 'Agent Client Protocol';
export const COMMUNICATION_PROTOCOL = 'Agent Communication Protocol';
