// Sessions of a server's database whose statement waits for a row that another transaction holds.
import { runSql } from "../../src/index.ts";

const MYSQL = "select trx_mysql_thread_id as id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
const POSTGRES =
  "select pid as id from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

const isMysql = (database: string) => database.startsWith("mysql:");

async function listWaiting(database: string): Promise<number[]> {
  return (await runSql(database, isMysql(database) ? MYSQL : POSTGRES)).map(({ id }) => Number(id));
}

export async function countWaiting(database: string): Promise<number> {
  return (await listWaiting(database)).length;
}

/** Ends the sessions that wait, so that their statements are never carried out. */
export async function endWaiting(database: string): Promise<void> {
  for (const id of await listWaiting(database)) await endSession(database, id);
}

const MYSQL_NO_SUCH_THREAD = 1094;

/** The end of a session can let another one continue, which then ends by itself because its client is dead. */
async function endSession(database: string, id: number): Promise<void> {
  if (!isMysql(database)) return void (await runSql(database, `select pg_terminate_backend(${id})`));
  await runSql(database, `kill ${id}`).catch((error: unknown) => {
    if ((error as { readonly errno?: number }).errno !== MYSQL_NO_SUCH_THREAD) throw error;
  });
}
