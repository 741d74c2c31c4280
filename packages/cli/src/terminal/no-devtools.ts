/** Replaces the terminal renderer's optional developer tools, which are not shipped. */
const nothing = { initialize: () => undefined, connectToDevTools: () => undefined };
export { nothing as default };
