export const en = {
  previous: "Previous row",
  next: "Next row",
  close: "Close",
} as const;
