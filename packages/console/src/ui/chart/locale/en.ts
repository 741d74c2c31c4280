export const en = {
  time: "Time",
  total: "Total",
  key: "Colours of the chart",
  asTable: "{title}: show as table",
} as const;
