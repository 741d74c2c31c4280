import {
  INSTALLATION_TEAM,
  operatorAccountCreate,
  operatorAccountDelete,
  operatorAccountList,
  operatorAccountUpdate,
  operatorTokenCreate,
  operatorTokenDelete,
  operatorTokenList,
  serviceAccountCreate,
  serviceAccountDelete,
  serviceAccountList,
  serviceAccountUpdate,
  serviceTokenCreate,
  serviceTokenDelete,
  serviceTokenList,
  type CallInput,
  type Client,
} from "@fairway/wire";

type Body<E extends typeof serviceAccountCreate | typeof serviceAccountUpdate | typeof serviceTokenCreate> =
  NonNullable<CallInput<E>["body"]>;

/** Returns the calls about the service accounts of a team, or those of the installation. */
export function bindCalls(client: Client, team: number) {
  if (team === INSTALLATION_TEAM) return bindOperatorCalls(client);
  return {
    list: () => client.call(serviceAccountList, { params: { id: team } }),
    create: (body: Body<typeof serviceAccountCreate>) =>
      client.call(serviceAccountCreate, { params: { id: team }, body }),
    update: (sid: number, body: Body<typeof serviceAccountUpdate>) =>
      client.call(serviceAccountUpdate, { params: { id: team, sid }, body }),
    remove: (sid: number) => client.call(serviceAccountDelete, { params: { id: team, sid } }),
    listTokens: (sid: number) => client.call(serviceTokenList, { params: { id: team, sid } }),
    createToken: (sid: number, body: Body<typeof serviceTokenCreate>) =>
      client.call(serviceTokenCreate, { params: { id: team, sid }, body }),
    removeToken: (sid: number, aid: number) => client.call(serviceTokenDelete, { params: { id: team, sid, aid } }),
  };
}

function bindOperatorCalls(client: Client) {
  return {
    list: () => client.call(operatorAccountList, {}),
    create: (body: Body<typeof serviceAccountCreate>) => client.call(operatorAccountCreate, { body }),
    update: (id: number, body: Body<typeof serviceAccountUpdate>) =>
      client.call(operatorAccountUpdate, { params: { id }, body }),
    remove: (id: number) => client.call(operatorAccountDelete, { params: { id } }),
    listTokens: (id: number) => client.call(operatorTokenList, { params: { id } }),
    createToken: (id: number, body: Body<typeof serviceTokenCreate>) =>
      client.call(operatorTokenCreate, { params: { id }, body }),
    removeToken: (id: number, aid: number) => client.call(operatorTokenDelete, { params: { id, aid } }),
  };
}
