export const en = {
  title: "Chat",
  with: "with the token {name}",
  outside: "Open in its own tab",
  noToken: "There are currently no available enabled tokens... Redirecting",
  noTokenForLink:
    "There are currently no available activation tokens. Please confirm whether any tokens are activated!",
  noLink: "The administrator has not set up a chat link.",
  setLink: "Set one up",
  noLinkTitle: "No chat link",
  addToken: "Add token",
  signInTitle: "Sign in to chat",
  signInBody: "The chat uses one of your tokens.",
  signIn: "Log in",
  plainTitle: "This chat opens in its own tab",
  plainBody: "Its address has no encryption, and an encrypted page may not frame it.",
  leaving: "Opening the chat…",
} as const;
