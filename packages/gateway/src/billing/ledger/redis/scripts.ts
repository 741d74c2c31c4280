import { script } from "../../../redis/script.ts";

/**
 * The scripts that change live balances. Each is atomic and touches one shard.
 *
 * An account is a hash with these fields: `b` balance (for a token its usage, negative); `h` held; `g` lifetime limit
 * of a token, or `u` for unlimited; `r` tokens revision of `g`, so that a replica with an older copy of the token does
 * not restore an old limit; `e` epoch in which it was loaded from the database; `i` id of that load; `v` the last
 * ledger row that it includes; `n` number of changes while it was not loaded; `m` since when it is unchanged, used by
 * `FORGET` only.
 *
 * A reservation is a field of the shard's hash: `amount:user:token` while it is open, with a trailing `+` once usage
 * was reported; `s` when it was settled, `r` when it was reaped. The field is removed when the database has the charge.
 */

const CLOCK = `
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end`;

/**
 * `free` returns what is neither used nor held, and what is held: nil for an account that is not loaded, false for an
 * unlimited one.
 */
const FREE = `
local function free(account, epoch, grant, revision)
  local a = redis.call('HMGET', account, 'e', 'b', 'h', 'g', 'r')
  if a[1] ~= epoch then return nil end
  local held = tonumber(a[3] or '0')
  local have = tonumber(a[2]) - held
  if grant == nil then return have, held end
  if grant == '' or tonumber(revision) < tonumber(a[5] or '0') then grant = a[4]
  elseif grant ~= a[4] or revision ~= a[5] then redis.call('HSET', account, 'g', grant, 'r', revision) end
  if grant == 'u' then return false, held end
  return have + tonumber(grant), held
end`;

/**
 * Reservations of one account, in order. KEYS epoch user token holds leases; ARGV now lease hasToken grant revision,
 * then for each: id amount isCharged wished tail isRepeated. Returns for each: 0 granted, {0, amount, 1 if less than
 * that is left}, {1, free, held} user short, {2, free, held} token short, {3} user not loaded, {4} token not loaded, {5}
 * closed. All granted reservations are written at once.
 */
export const HOLD = script(`${CLOCK}${FREE}
local epoch, hasToken = redis.call('GET', KEYS[1]), ARGV[3] == '1'
local user, token, ofUser, ofToken = nil, false, 0, 0
if epoch then
  user, ofUser = free(KEYS[2], epoch)
  if hasToken then token, ofToken = free(KEYS[3], epoch, ARGV[4], ARGV[5]) end
end
local function lacks(have, amount, isCharged)
  return have and (isCharged or amount > 0) and (have < amount or (isCharged and have <= 0))
end
local answers, mine, records, ids, held = {}, {}, {}, {}, 0
local function raised(amount, wished)
  local room = user
  if token and token < room then room = token end
  return math.max(amount, math.min(wished, math.floor(room / 2)))
end
local function before(id)
  local record = mine[id] or redis.call('HGET', KEYS[4], id)
  return record and (tonumber(string.match(record, '^%d+')) or 0)
end
for at = 6, #ARGV, 6 do
  local id, amount, isCharged = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2] == '1'
  local known = ARGV[at + 5] == '1' and before(id)
  local answer = 0
  if not epoch then answer = {5}
  elseif known then
    if known > amount then answer = {0, known, 0} end
  elseif user == nil then answer = {3}
  elseif lacks(user, amount, isCharged) then answer = {1, user, ofUser}
  elseif token == nil then answer = {4}
  elseif lacks(token, amount, isCharged) then answer = {2, token, ofToken}
  else
    local granted = ARGV[at + 1]
    if ARGV[at + 3] ~= '' then
      local more = raised(amount, tonumber(ARGV[at + 3]))
      if more > amount then
        granted, amount = string.format('%.0f', more), more
        answer = {0, more, 0}
      end
    end
    local left = token and math.min(user, token) or user
    if amount > 0 and left - amount < amount then answer = {0, amount, 1} end
    mine[id] = granted .. ARGV[at + 4]
    table.insert(records, id) table.insert(records, mine[id])
    table.insert(ids, id)
    held = held + amount
    user = user - amount
    if token then token = token - amount end
  end
  table.insert(answers, answer)
end
if #ids == 0 then return answers end
redis.call('HSET', KEYS[4], unpack(records))
if held > 0 then
  redis.call('HINCRBY', KEYS[2], 'h', held)
  if hasToken then redis.call('HINCRBY', KEYS[3], 'h', held) end
end
local ends, leases = clock(ARGV[1]) + ARGV[2], {}
for _, id in ipairs(ids) do table.insert(leases, ends) table.insert(leases, id) end
redis.call('ZADD', KEYS[5], unpack(leases))
return answers`);

/**
 * Restores a reservation that Redis has lost, or extends the lease of an existing one.
 * KEYS holds leases user token; ARGV id amount record now lease hasToken. Returns 1 when it was lost.
 */
export const ADOPT = script(`${CLOCK}
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known == 's' or known == 'r' then return 0 end
redis.call('ZADD', KEYS[2], clock(ARGV[4]) + ARGV[5], ARGV[1])
if known then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if tonumber(ARGV[2]) > 0 then
  redis.call('HINCRBY', KEYS[3], 'h', ARGV[2])
  if ARGV[6] == '1' then redis.call('HINCRBY', KEYS[4], 'h', ARGV[2]) end
end
return 1`);

/**
 * KEYS holds leases seen user token epoch; ARGV id seen now lease amount hasToken tail, where amount is '' or the
 * wanted reservation. Returns 0 unknown, 1 closed, 2 refused, 3 renewed, 4 account not loaded, 5 refused because of
 * what other reservations hold; 2, 4 and 5 also renew the lease.
 */
export const RENEW = script(`${CLOCK}${FREE}
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record then return 0 end
if record == 's' or record == 'r' then return 1 end
local held = string.match(record, '^%d+')
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 'XX', clock(ARGV[3]) + ARGV[4], ARGV[1])
local more = ARGV[5] == '' and 0 or tonumber(ARGV[5]) - tonumber(held)
local amount, answer = held, 3
if more > 0 then
  local epoch = redis.call('GET', KEYS[6])
  local user, ofUser = free(KEYS[4], epoch)
  local token, ofToken = false, 0
  if ARGV[6] == '1' then token, ofToken = free(KEYS[5], epoch, '') end
  if not epoch or user == nil or token == nil then answer = 4
  elseif user < more or (token and token < more) then
    local isEnough = user + ofUser - held >= more and (not token or token + ofToken - held >= more)
    answer = isEnough and 5 or 2
  else
    amount = ARGV[5]
    redis.call('HINCRBY', KEYS[4], 'h', more)
    if ARGV[6] == '1' then redis.call('HINCRBY', KEYS[5], 'h', more) end
  end
end
redis.call('HSET', KEYS[1], ARGV[1], amount .. ARGV[7])
return answer`);

/** KEYS holds leases seen user token; ARGV id hasToken. */
export const RELEASE = script(`
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record or record == 's' or record == 'r' then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if string.sub(record, -1) == '+' then redis.call('HDEL', KEYS[3], ARGV[1]) end
local held = tonumber(string.match(record, '^%d+'))
if held > 0 then
  redis.call('HINCRBY', KEYS[4], 'h', -held)
  if ARGV[2] == '1' then redis.call('HINCRBY', KEYS[5], 'h', -held) end
end
return 1`);

/** First number of a result of `HOLD`. */
export const HELD = { granted: 0, userShort: 1, tokenShort: 2, userUnread: 3, tokenUnread: 4, closed: 5 } as const;

export const RENEWED = { unknown: 0, closed: 1, refused: 2, done: 3, unread: 4, crowded: 5 } as const;

/** Return codes of `SETTLE` in place of the charge's stream id. */
export const SETTLED = { unknown: -1, before: -2, reaped: -3 } as const;

/** Larger numbers are not exact in Lua. */
const MOST_AT_ONCE = "9e15";

/**
 * Charges reservations of one account. KEYS holds leases seen user token charges epoch; ARGV account hasToken now, then
 * for each: id quota charge. Returns for each the stream id of its charge, or why it was not charged.
 */
const close = (state: "s" | "r", refusal: string) =>
  script(`${CLOCK}
local ids = {}
for at = 4, #ARGV, 3 do table.insert(ids, ARGV[at]) end
local records = redis.call('HMGET', KEYS[1], unpack(ids))
local epoch, hasToken = redis.call('GET', KEYS[7]), ARGV[2] == '1'
local function reading(account)
  local seed = redis.call('HMGET', account, 'e', 'i')
  return epoch and seed[1] == epoch and seed[2] or ''
end
local ofUser, ofToken = reading(KEYS[4]), hasToken and reading(KEYS[5]) or ''
local held, due, count = 0, 0, 0
local function take(account, of)
  if held ~= 0 then redis.call('HINCRBY', account, 'h', -held) end
  if of == '' then redis.call('HINCRBY', account, 'n', count)
  elseif due ~= 0 then redis.call('HINCRBY', account, 'b', -due) end
end
local function takeAll()
  if count == 0 then return end
  take(KEYS[4], ofUser)
  if hasToken then take(KEYS[5], ofToken) end
  held, due, count = 0, 0, 0
end
local answers, closed, states, seen = {}, {}, {}, {}
for at, id in ipairs(ids) do
  local record, quota, answer = records[at], tonumber(ARGV[1 + 3 * at + 1]), nil
  if not record then answer = ${SETTLED.unknown}
  elseif record == 's' or closed[id] then answer = ${SETTLED.before}
  elseif record == 'r' then answer = ${SETTLED.reaped} end
  ${refusal}
  if answer == nil then
    answer = redis.call('XADD', KEYS[6], '*', 'a', ARGV[1], 'i', ofUser, 'j', ofToken, 'e', ARGV[1 + 3 * at + 2])
    closed[id] = true
    table.insert(states, id) table.insert(states, '${state}')
    if string.sub(record, -1) == '+' then table.insert(seen, id) end
    if due + quota > ${MOST_AT_ONCE} then takeAll() end
    held, due, count = held + tonumber(string.match(record, '^%d+')), due + quota, count + 1
  end
  table.insert(answers, answer)
end
takeAll()
if #states == 0 then return answers end
redis.call('HSET', KEYS[1], unpack(states))
local ended = {}
for id in pairs(closed) do table.insert(ended, id) end
redis.call('ZREM', KEYS[2], unpack(ended))
if #seen > 0 then redis.call('HDEL', KEYS[3], unpack(seen)) end
return answers`);

/** Charges open reservations; returns the stream id of each charge, or one of `SETTLED`. */
export const SETTLE = close("s", "");

/** Charges an expired reservation; returns 0 when it has not expired. */
export const REAP = close(
  "r",
  `local lease = redis.call('ZSCORE', KEYS[2], id)
  if not lease or tonumber(lease) > clock(ARGV[3]) then answer = 0 end`,
);

/** KEYS leases holds seen; ARGV now limit. Returns id, record and reported usage of each expired reservation. */
export const DUE = script(`${CLOCK}
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', clock(ARGV[1]), 'LIMIT', 0, ARGV[2])) do
  local record = redis.call('HGET', KEYS[2], id)
  if not record or record == 's' or record == 'r' then redis.call('ZREM', KEYS[1], id)
  else
    local seen = ''
    if string.sub(record, -1) == '+' then seen = redis.call('HGET', KEYS[3], id) or '' end
    table.insert(found, id) table.insert(found, record) table.insert(found, seen)
  end
end
return found`);

/** Removes booked charges. KEYS charges holds; ARGV group count, then as many stream ids, then request ids. */
export const BOOKED = script(`
local count = tonumber(ARGV[2])
local ids, requests = {}, {}
for at = 1, count do ids[at] = ARGV[2 + at] requests[at] = ARGV[2 + count + at] end
redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
local gone = redis.call('XDEL', KEYS[1], unpack(ids))
local records, closed = redis.call('HMGET', KEYS[2], unpack(requests)), {}
for at = 1, count do
  if records[at] == 's' or records[at] == 'r' then table.insert(closed, requests[at]) end
end
if #closed > 0 then redis.call('HDEL', KEYS[2], unpack(closed)) end
return gone`);

/**
 * Undoes a charge that the database already had, unless the entry was claimed by another settler, which may have booked
 * it. KEYS user token stream; ARGV load id of user, load id of token, quota, group, settler, entry.
 */
export const REFUND = script(`
if #redis.call('XPENDING', KEYS[3], ARGV[4], ARGV[6], ARGV[6], 1, ARGV[5]) == 0 then return 0 end
for at = 1, 2 do
  if ARGV[at] ~= '' and redis.call('HGET', KEYS[at], 'i') == ARGV[at] then redis.call('HINCRBY', KEYS[at], 'b', ARGV[3]) end
end
return 1`);

/** Applies movements from the database. KEYS epoch account; ARGV ledger id and quota of each, in order. */
export const FOLLOW = script(`
local epoch = redis.call('GET', KEYS[1])
local a = redis.call('HMGET', KEYS[2], 'e', 'v')
if not epoch or a[1] ~= epoch then
  redis.call('HINCRBY', KEYS[2], 'n', 1)
  return 0
end
local last, done = tonumber(a[2]), 0
for at = 1, #ARGV, 2 do
  local id = tonumber(ARGV[at])
  if id > last then
    redis.call('HINCRBY', KEYS[2], 'b', ARGV[at + 1])
    redis.call('HSET', KEYS[2], 'v', ARGV[at])
    last = id
    done = done + 1
  end
end
return done`);

/**
 * Applies a changed limit of a token. KEYS epoch account; ARGV limit, the tokens revision at which it was read, the
 * revision of the change. An account that knows the change already stays as it is, so that a repeated change cannot hide
 * a wrong grant from the audit. One that is being loaded is read again; one that Redis does not have is read at its next
 * use.
 */
export const LIMIT = script(`
local a = redis.call('HMGET', KEYS[2], 'e', 'r', 'n')
if not a[1] and not a[3] then return 0 end
if a[1] ~= redis.call('GET', KEYS[1]) then return redis.call('HINCRBY', KEYS[2], 'n', 1) end
local known = tonumber(a[2] or '0')
if known >= tonumber(ARGV[3]) or known > tonumber(ARGV[2]) then return 0 end
return redis.call('HSET', KEYS[2], 'g', ARGV[1], 'r', ARGV[2])`);

/**
 * Checks whether this account may be loaded from the database. KEYS epoch account charges; ARGV prefix or suffix of its
 * charges, limit. Returns {0} closed, {1} already loaded, {2} has unbooked charges, {3, epoch, changes} may be loaded;
 * then `n` exists, so that `LIMIT` finds every account that is being loaded.
 */
export const BEGIN_LOAD = script(`
local epoch = redis.call('GET', KEYS[1])
if not epoch then return {0} end
local a = redis.call('HMGET', KEYS[2], 'e', 'n')
if a[1] == epoch then return {1} end
local length = redis.call('XLEN', KEYS[3])
if length > tonumber(ARGV[3]) then return {2} end
if length > 0 then
  for _, entry in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
    local user, token = string.match(entry[2][2], '^(%d+):(%d+)$')
    if (ARGV[1] == 'user' and user or token) == ARGV[2] then return {2} end
  end
end
if not a[2] then redis.call('HSET', KEYS[2], 'n', 0) end
return {3, epoch, a[2] or '0'}`);

/**
 * KEYS epoch account; ARGV epoch changes balance version grant reading revision. Returns 0 if anything changed since.
 */
export const LOAD_ACCOUNT = script(`
local epoch = redis.call('GET', KEYS[1])
local a = redis.call('HMGET', KEYS[2], 'e', 'n')
if epoch ~= ARGV[1] then return 0 end
if a[1] == epoch then return 1 end
if (a[2] or '0') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], 'e', epoch, 'b', ARGV[3], 'v', ARGV[4], 'g', ARGV[5], 'i', ARGV[6], 'r', ARGV[7])
return 1`);

/** KEYS epoch; ARGV new epoch. Opens the shard unless a later epoch already did. */
export const OPEN = script(`
local epoch = redis.call('GET', KEYS[1])
if epoch and tonumber(epoch) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1`);

/** KEYS epoch; ARGV new epoch. Closes the shard until it is opened in that epoch. */
export const CLOSE_SHARD = script(`
local epoch = redis.call('GET', KEYS[1])
if epoch and tonumber(epoch) < tonumber(ARGV[1]) then return redis.call('DEL', KEYS[1]) end
return 0`);

/** KEYS recovering; ARGV epoch seconds. Announces the begun epoch to all processes; a later one is retained. */
export const BEGIN_EPOCH = script(`
local latest = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.call('SET', KEYS[1], math.max(latest, tonumber(ARGV[1])), 'EX', ARGV[2])
return 1`);

/** KEYS replicas; ARGV name, milliseconds. Returns the replicas with a heartbeat within that time. */
export const ALIVE = script(`${CLOCK}
local now = clock('0')
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 3600000)
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[2], '+inf')`);

/**
 * Removes an account that is unchanged for a while, according to its field `m`: the time and state of the first check.
 * Accounts with held amounts stay, as do accounts that changed while they were not loaded, because the next load checks
 * that. KEYS epoch account; ARGV seconds.
 */
export const FORGET = script(`
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
local epoch = redis.call('GET', KEYS[1])
local a = redis.call('HMGET', KEYS[2], 'e', 'n', 'h', 'm', 'b', 'v', 'i')
if (a[3] or '0') ~= '0' then return 0 end
if (not epoch or a[1] ~= epoch) and (a[2] or '0') ~= '0' then return 0 end
local now, state = redis.call('TIME')[1], (a[5] or '') .. ' ' .. (a[6] or '') .. ' ' .. (a[7] or '')
local since, seen = string.match(a[4] or '', '^(%d+) (.*)$')
if seen ~= state or tonumber(since) > tonumber(now) then
  redis.call('HSET', KEYS[2], 'm', now .. ' ' .. state)
  return 0
end
if now - since < tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[2])`);
