/** The index of docs/reference. */
export function readme(): string {
  return `# Reference

Made from the tables that the program itself uses (\`npm run docs\`), so it cannot disagree with them.

- [Environment](environment.md): what is fixed while a process lives
- [Options](options.md): what operators change at run time
- [Management API](endpoints.md): every call under \`/api\`, and [field by field](api.md)
- [Calls and their tests](call-tests.md): which test sends which call
- [The command \`fairway\`](cli.md): every command of the terminal, its flags and exit codes
- [Errors](errors.md): every code and text
- [Weaknesses that are prevented](weaknesses.md): what servers of this kind get wrong, and the test of each
- [Metrics](metrics.md): every name and label
- [Providers](providers.md): every channel type and what it can do
- [Conversions](conversions.md): what survives between protocols
- What a call costs: \`npm run bench\` measures it and writes [a page](bench.md); with \`-- --api\` [the management API at size](bench-api.md); with \`-- --ledger\` [reservations and charges alone](bench-ledger.md), on an empty database and next to ten million rows; with \`-- --logs\` [questions to the log](bench-logs.md) of ten million rows
`;
}
