/** Text keys of the budget periods. */
export const PERIOD_TEXT = { day: "periodDay", week: "periodWeek", month: "periodMonth" } as const;
