export const en = {
  title: "Move {name} to another owner",
  lead: "The key keeps its text, so applications notice nothing. From now on the new owner pays for its calls and sees them in the log. Calls that run are paid by the earlier owner.",
  owner: "New owner",
  choose: "Choose one",
  myself: "Me",
  move: "Move the key",
  moved: "The key {name} belongs to {to} now",
} as const;
