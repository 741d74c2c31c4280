/**
 * `mistake`: waiting does not help, but another configuration does. `incomplete`: slots are not served; the message
 * names them and the remedy. `unreachable`: no node answers.
 */
export type ClusterProblem = "mistake" | "incomplete" | "unreachable";

/** Thrown if the nodes do not form a usable cluster; the message is for the operator. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly problem: ClusterProblem;

  constructor(problem: ClusterProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}
