export const en = {
  changeNow: "Change {count}",
  preview: "Preview",
  previewNone: "Nothing changes yet.",
  previewMore: "and {count} more",
  changedSince: "It was changed after the preview had been made. Nothing was sent for it.",
} as const;
