// Loaded into a replica before the program: each SIGUSR2 makes its wall clock jump to the next of these offsets.
const OFFSETS_MS = [60_000, -60_000, 0];

let jumps = 0;
let offset = 0;
const { now } = Date;
Date.now = () => now() + offset;
process.on("SIGUSR2", () => {
  offset = OFFSETS_MS[jumps % OFFSETS_MS.length] ?? 0;
  jumps += 1;
});
