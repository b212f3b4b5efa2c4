/* test_data_file_damage.c - a small sealed file damaged in every way: each bit, each length, and
 * files put in each other's places. Nothing may go unnoticed, crash, or change an output. */
#include "base/crc32c.h"
#include "codec/record.h"
#include "store/data_file.h"
#include "store/file_writer.h"
#include "unit/store/temp.h"

#define NAME "000007.f32"
#define DATA_NBYTES 96u
#define LEAST_NBYTES (FILE_HEADER_NBYTES + RECORD_HEADER_NBYTES + FILE_TRAILER_NBYTES)

static const struct file_header HEADER = {
    .kind = FILE_VECTORS_F32, .number = 7, .collection = 3, .field = 1, .row_nbytes = 16, .dim = 4};

static struct file_ref make(const struct temp *temp, const struct file_header *header, uint8_t fill)
{
    struct file_footer footer = {
        .row_count = 6, .section_count = 1, .sections = {{SECTION_ROWS, 0, DATA_NBYTES}}};
    struct file_writer *writer;
    struct file_ref ref;
    uint8_t data[DATA_NBYTES];

    memset(data, fill, sizeof data);
    assert_int_equal(file_writer_create(temp->dir, header, true, &writer, NULL), PAUA_OK);
    assert_int_equal(file_writer_append(writer, data, sizeof data, NULL), PAUA_OK);
    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

static paua_error err; /* of the last open_and_read() */

/* Opens, as the catalogue knows it or by name only, and reads all; the first status that is not OK.
 * */
static paua_status open_and_read(const struct temp *temp, const struct file_ref *ref, bool no_mmap,
                                 bool by_name)
{
    struct data_file_opts opts = {.no_mmap = no_mmap};
    struct data_file *file = NULL;
    struct file_ref found = {.number = 99};
    uint8_t scratch[DATA_NBYTES];
    const uint8_t *bytes = NULL;
    paua_status status;

    status = by_name ? data_file_open_any(temp->dir, 7, FILE_VECTORS_F32, opts, &file, &found, &err)
                     : data_file_open_sealed(temp->dir, &HEADER, ref, opts, &file, &err);
    if (status != PAUA_OK) {
        assert_null(file);
        assert_int_equal(found.number, 99);
        assert_non_null(strstr(err.message, NAME));
        return status;
    }
    status = data_file_read(file, 0, sizeof scratch, scratch, &bytes, &err);
    if (status != PAUA_OK) assert_null(bytes);
    if (status != PAUA_OK) assert_int_equal(data_file_verify(file, NULL), PAUA_ECORRUPT);
    data_file_unref(file);
    return status;
}

static void assert_noticed(const struct temp *temp, const struct file_ref *ref, size_t where)
{
    for (int way = 0; way < 4; way++) {
        paua_status status = open_and_read(temp, ref, way % 2 == 0, way >= 2);

        if (status != PAUA_ECORRUPT && status != PAUA_EVERSION)
            fail_msg("damage at %zu (way %d) gives %d", where, way, status);
    }
}

static void every_flipped_bit_is_noticed(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct bytes file = temp_read(temp, NAME);

    assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_OK);
    assert_int_equal(open_and_read(temp, &ref, true, true), PAUA_OK);
    for (size_t bit = 0; bit < 8 * file.nbytes; bit++) {
        file.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        temp_write(temp, NAME, file.data, file.nbytes);
        assert_noticed(temp, &ref, bit);
        file.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    free(file.data);
}

static void every_other_length_is_noticed(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct bytes file = temp_read(temp, NAME);
    uint8_t longer[1024] = {0};

    memcpy(longer, file.data, file.nbytes);
    for (size_t length = 0; length < file.nbytes + 100; length++) {
        if (length == file.nbytes) continue;
        temp_write(temp, NAME, longer, length);
        assert_noticed(temp, &ref, length);
        assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_ECORRUPT);
        assert_non_null(strstr(err.message, "bytes long instead of"));
        if (length < FILE_HEADER_NBYTES || length >= LEAST_NBYTES) continue;
        assert_int_equal(open_and_read(temp, &ref, false, true), PAUA_ECORRUPT);
        assert_non_null(strstr(err.message, "too short"));
    }
    free(file.data);
}

static void a_missing_file_is_damage_unless_only_its_name_was_known(void **state)
{
    struct file_ref ref = {.number = 7, .nbytes = 300};

    assert_int_equal(open_and_read(*state, &ref, false, false), PAUA_ECORRUPT);
    assert_int_equal(open_and_read(*state, &ref, false, true), PAUA_ENOTFOUND);
}

/* Each is a good file of the same length that differs from the expected one in one way. */
static void a_file_in_the_place_of_another_is_noticed(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct file_header others[4] = {HEADER, HEADER, HEADER, HEADER};
    char name[FILE_NAME_NBYTES];

    others[0].number = 8;
    others[1].collection = 4;
    others[2].field = 2;
    others[3].dim = 8;
    others[3].row_nbytes = 32;
    for (size_t i = 0; i < 4; i++) {
        make(temp, &others[i], 'a');
        file_name(name, others[i].number, others[i].kind);
        assert_int_equal(dir_rename(temp->dir, name, NAME, NULL), PAUA_OK);
        assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_ECORRUPT);
        assert_int_equal(open_and_read(temp, &ref, false, true), i == 0 ? PAUA_ECORRUPT : PAUA_OK);
    }
    make(temp, &HEADER, 'b'); /* an older copy */
    assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_ECORRUPT);
    assert_int_equal(open_and_read(temp, &ref, false, true), PAUA_OK);
    make(temp, &HEADER, 'a');
    assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_OK);
}

static void unknown_incompat_bits_need_a_newer_version(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct bytes file = temp_read(temp, NAME);

    file.data[20] = 1;
    bytes_put(file.data + 60, crc32c(0, file.data, 60), 4);
    temp_write(temp, NAME, file.data, file.nbytes);
    assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_EVERSION);
    assert_int_equal(open_and_read(temp, &ref, false, true), PAUA_EVERSION);
    file.data[20] = 0;
    file.data[12] = file.data[16] = 1; /* compat and read_compat bits do not matter to a reader */
    bytes_put(file.data + 60, crc32c(0, file.data, 60), 4);
    temp_write(temp, NAME, file.data, file.nbytes);
    assert_int_equal(open_and_read(temp, &ref, false, false), PAUA_OK);
    free(file.data);
}

/* Without the checks that file_trailer_encode() makes. */
static void forge_trailer(uint8_t *at, const struct file_trailer *trailer)
{
    bytes_put(at, trailer->footer_offset, 8);
    bytes_put(at + 8, trailer->footer_nbytes, 4);
    bytes_put(at + 12, trailer->footer_crc, 4);
    bytes_put(at + 16, crc32c(0, at, 16), 4);
}

/* Trailers whose own checksum is right. */
static void a_forged_trailer_is_refused(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct bytes file = temp_read(temp, NAME);
    uint8_t *at = file.data + file.nbytes - FILE_TRAILER_NBYTES;
    struct file_trailer good, forged[6];

    assert_int_equal(file_trailer_decode(at, FILE_TRAILER_NBYTES, &good), PAUA_OK);
    for (size_t i = 0; i < 6; i++)
        forged[i] = good;
    forged[0].footer_offset++;
    forged[1].footer_nbytes--;
    forged[2].footer_crc++;
    forged[3].footer_offset = UINT64_MAX;
    forged[4].footer_nbytes = UINT32_MAX;
    forged[5].footer_offset += good.footer_nbytes;
    forged[5].footer_nbytes = 0;
    for (size_t i = 0; i < 6; i++) {
        forge_trailer(at, &forged[i]);
        temp_write(temp, NAME, file.data, file.nbytes);
        assert_noticed(temp, &ref, i);
        assert_non_null(strstr(err.message, i == 2 ? "belong together" : "trailer"));
    }
    free(file.data);
}

/* A footer that speaks of one byte less data, in a file that has it. */
static void data_that_the_footer_does_not_speak_of_is_noticed(void **state)
{
    struct temp *temp = *state;
    struct file_ref ref = make(temp, &HEADER, 'a');
    struct bytes file = temp_read(temp, NAME);
    uint8_t longer[1024] = {0}, *footer = longer + FILE_HEADER_NBYTES + DATA_NBYTES + 1;
    size_t footer_nbytes = file.nbytes - FILE_HEADER_NBYTES - DATA_NBYTES - FILE_TRAILER_NBYTES;

    memcpy(longer, file.data, FILE_HEADER_NBYTES + DATA_NBYTES);
    memcpy(footer, file.data + FILE_HEADER_NBYTES + DATA_NBYTES, footer_nbytes);
    file_trailer_encode(
        &(struct file_trailer){.footer_offset = FILE_HEADER_NBYTES + DATA_NBYTES + 1,
                               .footer_nbytes = (uint32_t)footer_nbytes,
                               .footer_crc = record_crc(footer)},
        footer + footer_nbytes);
    temp_write(temp, NAME, longer, file.nbytes + 1);
    ref.nbytes++;
    assert_noticed(temp, &ref, 0);
    free(file.data);
}

/* Thousands of files are written here; memfds take them without syncing anything. */
int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, temp_setup_memory, temp_teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_flipped_bit_is_noticed),
        TEST(every_other_length_is_noticed),
        TEST(a_missing_file_is_damage_unless_only_its_name_was_known),
        TEST(a_file_in_the_place_of_another_is_noticed),
        TEST(unknown_incompat_bits_need_a_newer_version),
        TEST(a_forged_trailer_is_refused),
        TEST(data_that_the_footer_does_not_speak_of_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
