/**
 * `mistake`: waiting does not help, another configuration does. `incomplete`: slots are not served, the message names
 * them and the cure. `unreachable`: no node answers.
 */
export type ClusterProblem = "mistake" | "incomplete" | "unreachable";

/** The nodes do not form a cluster that can be used; the message is for the operator. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly problem: ClusterProblem;

  constructor(problem: ClusterProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}
