export const en = {
  title: "About",
  emptyTitle: "{name} runs on Fairway",
  emptyBody:
    "Fairway is an open gateway for AI models. The operator of this one has not written anything about it yet.",
  write: "Write it under Settings",
} as const;
