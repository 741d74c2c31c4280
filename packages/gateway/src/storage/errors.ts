/** Classifies driver errors; the three drivers use different codes for the same events. */

interface DriverError {
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly code?: unknown;
}

const MYSQL_DEADLOCK = 1213;
const MYSQL_LOCK_WAIT = 1205;
const MYSQL_DUPLICATE = 1062;
const POSTGRES_SERIALISATION = "40001";
const POSTGRES_DEADLOCK = "40P01";
const POSTGRES_DUPLICATE = "23505";
/** Value out of range, value wrong for the column, text too long. */
const MYSQL_UNSTORABLE = new Set([1264, 1366, 1406]);
/** Text too long, number out of range, bytes that are not text, invalid value, untranslatable character. */
const POSTGRES_UNSTORABLE = new Set(["22001", "22003", "22021", "22P02", "22P05"]);
/** Read only by the server's setting, by the transaction, by InnoDB. */
const MYSQL_READ_ONLY = new Set([1290, 1792, 1836]);
const POSTGRES_READ_ONLY = "25006";
/** Access denied to the database, to a table, to a column, to an operation. */
const MYSQL_DENIED = new Set([1044, 1142, 1143, 1227]);
const POSTGRES_DENIED = "42501";
const MYSQL_LOGIN = 1045;
/** Authentication failures: no permission to log in, wrong password. */
const POSTGRES_LOGIN = new Set(["28000", "28P01"]);
/** Database not accessible to this account, database unknown. */
const MYSQL_NO_DATABASE = new Set([1044, 1049]);
const POSTGRES_NO_DATABASE = "3D000";
const SQLITE_READ_ONLY = 8;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
/** Disk full, table full. */
const MYSQL_FULL = new Set([1021, 1114]);
const POSTGRES_FULL = "53100";
const SQLITE_DUPLICATE = new Set([1555, 2067]);

/** True if a retry of the same transaction may succeed. */
export function isTransient(error: unknown): boolean {
  const { errno, errcode, code } = fields(error);
  if (errno === MYSQL_DEADLOCK || errno === MYSQL_LOCK_WAIT) return true;
  if (code === POSTGRES_SERIALISATION || code === POSTGRES_DEADLOCK) return true;
  // The low byte of an SQLite code is its class; the rest is the specific cause.
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" && (errcode & 0xff) === SQLITE_BUSY;
}

/** True if a unique index or primary key rejected a row. */
export function isDuplicate(error: unknown): boolean {
  const { errno, errcode, code } = fields(error);
  if (errno === MYSQL_DUPLICATE || code === POSTGRES_DUPLICATE) return true;
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" && SQLITE_DUPLICATE.has(errcode);
}

/** True if a column cannot hold an external value, such as a number that is too large or a text with a zero byte. */
export function isUnstorable(error: unknown): boolean {
  const { errno, code } = fields(error);
  return (typeof errno === "number" && MYSQL_UNSTORABLE.has(errno)) || POSTGRES_UNSTORABLE.has(String(code as unknown));
}

/** Classes of SQLSTATE for temporary faults: connection, resources, limits, intervention, system. */
const POSTGRES_PASSING = /^(?:08|25|40|53|54|55|57|58)/;
/** Out of memory, too many connections, disk errors, shutdown, lost connections. */
const MYSQL_PASSING = new Set([
  1004, 1005, 1021, 1037, 1038, 1040, 1041, 1053, 1114, 1158, 1159, 1160, 1161, 1180, 1205, 1213, 1290, 1317, 1792,
  1836, 1969, 3024,
]);
/** Classes: busy, locked, out of memory, read only, interrupted, disk error, full, cannot open. */
const SQLITE_PASSING = new Set([5, 6, 7, 8, 9, 10, 13, 14]);

/** Messages and codes with which Node and the drivers report a broken connection. */
const CONNECTION =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|PROTOCOL_\w+|POOL_\w+)$|connection (?:terminated|closed|ended|lost|error|is in closed state)/i;

/**
 * True for temporary faults: no connection, disk space, time or memory. The statement is retried regardless of its
 * content.
 */
export function isPassing(error: unknown): boolean {
  const { errno, errcode, code } = fields(error);
  if (code === "ERR_SQLITE_ERROR") return typeof errcode === "number" && SQLITE_PASSING.has(errcode & 0xff);
  if (typeof errno === "number" && errno >= 1000) return errno >= 2000 || MYSQL_PASSING.has(errno);
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)) return POSTGRES_PASSING.test(code);
  return CONNECTION.test(String(code)) || (error instanceof Error && CONNECTION.test(error.message));
}

/** True if the database accepts no writes: a replica, or locked by its operator. */
export function isReadOnly(error: unknown): boolean {
  const { errno, errcode, code } = fields(error);
  if ((typeof errno === "number" && MYSQL_READ_ONLY.has(errno)) || code === POSTGRES_READ_ONLY) return true;
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" && (errcode & 0xff) === SQLITE_READ_ONLY;
}

/** True if the disk of the database is full. */
export function isFull(error: unknown): boolean {
  const { errno, errcode, code } = fields(error);
  if ((typeof errno === "number" && MYSQL_FULL.has(errno)) || code === POSTGRES_FULL) return true;
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" && (errcode & 0xff) === SQLITE_FULL;
}

/** True if the account lacks the permission for the statement. */
export function isDenied(error: unknown): boolean {
  const { errno, code } = fields(error);
  return (typeof errno === "number" && MYSQL_DENIED.has(errno)) || code === POSTGRES_DENIED;
}

/** True if the user is unknown or the password is wrong. */
export function isLoginRefused(error: unknown): boolean {
  const { errno, code } = fields(error);
  return errno === MYSQL_LOGIN || POSTGRES_LOGIN.has(String(code as unknown));
}

/** True if the server has no database of that name for this account. */
export function isNoDatabase(error: unknown): boolean {
  const { errno, code } = fields(error);
  return (typeof errno === "number" && MYSQL_NO_DATABASE.has(errno)) || code === POSTGRES_NO_DATABASE;
}

/** True if a pooler in front of PostgreSQL does not know a setting that every connection sends at its start. */
export function isSettingRefused(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/i.test(error.message);
}

function fields(error: unknown): DriverError {
  return typeof error === "object" && error !== null ? error : {};
}
