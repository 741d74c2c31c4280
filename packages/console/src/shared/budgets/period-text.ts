/** Words of the periods of budgets. */
export const PERIOD_TEXT = { day: "periodDay", week: "periodWeek", month: "periodMonth" } as const;
