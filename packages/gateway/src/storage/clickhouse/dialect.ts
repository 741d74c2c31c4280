import {
  DefaultQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  ValueNode,
  type CompiledQuery,
  type DatabaseConnection,
  type DeleteQueryNode,
  type Dialect,
  type Driver,
  type OperationNode,
  type QueryResult,
  type RawNode,
} from "kysely";
import type { ClickhouseClient } from "./client.ts";
import { clickhouseLiteral, toClickhousePattern } from "./literal.ts";

/** Statements about `logs` in the SQL of ClickHouse, so that readers of the log are the same for all databases. */
export function createClickhouseDialect(client: ClickhouseClient): Dialect {
  return {
    createDriver: () => createDriver(client),
    createQueryCompiler: () => new ClickhouseQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

function createDriver(client: ClickhouseClient): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, query }: CompiledQuery): Promise<QueryResult<Row>> {
      if (query.kind === "SelectQueryNode" || query.kind === "RawNode") return { rows: await client.rows<Row>(sql) };
      await client.command(sql);
      return { rows: [] };
    },
    streamQuery() {
      throw new Error("rows of ClickHouse are read by statements with a limit");
    },
  };
  const refuse = () => Promise.reject(new Error("ClickHouse has no transactions"));
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
}

/** The end of a comparison in `storage/like.ts`, with the escape character in it or as the next parameter. */
const ESCAPE = /^(\)?) escape ('!')?/;
/** It counts bytes in ClickHouse, and characters in the other databases. */
const SUBSTR = /\bsubstr\(/g;

class ClickhouseQueryCompiler extends DefaultQueryCompiler {
  protected override appendValue(value: unknown): void {
    this.append(clickhouseLiteral(value));
  }

  protected override appendStringLiteral(value: string): void {
    this.append(clickhouseLiteral(value));
  }

  /** A delete rewrites each part, so all rows are removed in another way. */
  protected override visitDeleteQuery(node: DeleteQueryNode): void {
    if (node.where) return super.visitDeleteQuery(node);
    this.append("truncate table ");
    this.compileList(node.from.froms);
  }

  /** Older servers know no `like ... escape`, so the pattern gets their own escape character. */
  protected override visitRaw({ sqlFragments, parameters }: RawNode): void {
    let isEscapeNext = false;
    for (const [at, fragment] of sqlFragments.entries()) {
      this.append(fragment.replace(ESCAPE, "$1").replace(SUBSTR, "substringUTF8("));
      const parameter = parameters[at];
      if (!parameter || isEscapeNext) {
        isEscapeNext = false;
        continue;
      }
      const escape = ESCAPE.exec(sqlFragments[at + 1] ?? "");
      if (escape) this.append(clickhouseLiteral(toClickhousePattern(readPattern(parameter))));
      else this.visitNode(parameter);
      isEscapeNext = escape !== null && escape[2] === undefined;
    }
  }
}

function readPattern(node: OperationNode): string {
  if (ValueNode.is(node) && typeof node.value === "string") return node.value;
  throw new Error("a pattern of the log is a text");
}
