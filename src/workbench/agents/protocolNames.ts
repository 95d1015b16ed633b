// Names of the two protocols called ACP; not localized.
export const CLIENT_PROTOCOL = 'Agent Client Protocol';
export const COMMUNICATION_PROTOCOL = 'Agent Communication Protocol';
