import { script } from "../redis/script.ts";

/**
 * Accounts of one shard as they are at one instant. KEYS epoch holds charges, then accounts; ARGV limit, then `u12` or
 * `t34` of each account. Answers balance, held, version, sum of open reservations, 1 when charges are on their way,
 * for each account that was read in this epoch; an empty list for others.
 */
export const LOOK = script(`
local open, waiting = {}, {}
local records = redis.call('HVALS', KEYS[2])
for _, record in ipairs(records) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount then
    open['u' .. user] = (open['u' .. user] or 0) + tonumber(amount)
    open['t' .. token] = (open['t' .. token] or 0) + tonumber(amount)
  end
end
local isLong = redis.call('XLEN', KEYS[3]) > tonumber(ARGV[1])
if not isLong then
  for _, entry in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
    local user, token = string.match(entry[2][2], '^(%d+):(%d+)$')
    waiting['u' .. user], waiting['t' .. token] = 1, 1
  end
end
local epoch, answer = redis.call('GET', KEYS[1]), {}
for at = 4, #KEYS do
  local name = ARGV[at - 2]
  local a = redis.call('HMGET', KEYS[at], 'e', 'b', 'h', 'v')
  if epoch and a[1] == epoch then
    local isWaiting = (isLong or waiting[name]) and 1 or 0
    table.insert(answer, {a[2], a[3] or '0', a[4], string.format('%.0f', open[name] or 0), isWaiting})
  else table.insert(answer, {}) end
end
return answer`);

/** Has an account read anew, unless it moved since. KEYS account; ARGV balance, version. */
export const UNREAD = script(`
local a = redis.call('HMGET', KEYS[1], 'b', 'v')
if a[1] ~= ARGV[1] or a[2] ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], 'e')
redis.call('HINCRBY', KEYS[1], 'n', 1)
return 1`);

/** Sets what an account holds to the sum of its open reservations. KEYS account holds; ARGV `user` or `token`, id. */
export const RECOUNT = script(`
local sum = 0
for _, record in ipairs(redis.call('HVALS', KEYS[2])) do
  local amount, user, token = string.match(record, '^(%d+):(%d+):(%d+)')
  if amount and (ARGV[1] == 'user' and user or token) == ARGV[2] then sum = sum + tonumber(amount) end
end
redis.call('HSET', KEYS[1], 'h', string.format('%.0f', sum))
return 1`);

/** Forgets an account that nobody uses. KEYS account; ARGV seconds without use. */
export const FORGET = script(`
if (redis.call('HGET', KEYS[1], 'h') or '0') ~= '0' then return 0 end
if redis.call('OBJECT', 'IDLETIME', KEYS[1]) < tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])`);
