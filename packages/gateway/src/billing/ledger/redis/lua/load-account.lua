-- Stores an account with the values from the database. Returns 0 if its epoch or `n` changed since `begin-load.lua`,
-- because the values may be old.

local epochKey = KEYS[1]
local accountKey = KEYS[2]
local readEpoch = ARGV[1]
local readChanges = ARGV[2]
local balance = ARGV[3]
local version = ARGV[4]
local newGrant = ARGV[5]
local loadId = ARGV[6]
local revision = ARGV[7]

local epoch = redis.call('GET', epochKey)
local a = redis.call('HMGET', accountKey, 'e', 'n')
if epoch ~= readEpoch then return 0 end
if a[1] == epoch then return 1 end
if (a[2] or '0') ~= readChanges then return 0 end
redis.call('HSET', accountKey, 'e', epoch, 'b', balance, 'v', version, 'g', newGrant, 'i', loadId, 'r', revision)
return 1
